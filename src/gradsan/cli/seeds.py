"""`gradsan train … --seeds 1-20`: many seeds at once, and how they compare."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from gradsan.cli.compare import show_comparison

if TYPE_CHECKING:
    from gradsan.rl.config import Config
    from gradsan.rl.seeds import SeedOutcome, SeedRunner


class Where(NamedTuple):
    """Together where that pays, in local processes, or as tasks of Ray; `at_once`: at most so many processes."""

    at_once: int | None = None
    on_ray: bool = False
    address: str | None = None

    def runner(self) -> SeedRunner:
        if self.on_ray:
            if importlib.util.find_spec("ray") is None:
                raise click.ClickException("--ray needs ray: pip install 'gradsan[ray]'.")
            from gradsan.rl.ray_seeds import RayTasks

            return RayTasks(self.address, self.at_once)
        from gradsan.rl.local_seeds import LocalProcesses, cores
        from gradsan.rl.seeds_together import Together

        processes = LocalProcesses(self.at_once or cores())
        return processes if self.at_once is not None else Together(processes)


def train_all(config: Config, seeds: str, above: Path, where: Where) -> None:
    from gradsan.rl.algorithms import name_of
    from gradsan.rl.seeds import jobs_for, parse_seeds, train_seeds
    from gradsan.rl.seeds_display import SeedsDisplay
    from gradsan.rl.signals import stop_requests

    jobs = jobs_for(config, parse_seeds(seeds), above)
    title = f"{name_of(config)} {config.env}"
    with SeedsDisplay(title, len(jobs), config.steps) as display, stop_requests() as stop:
        ended = train_seeds(jobs, where.runner(), display, stop)
    _compare(ended, above)
    failed = [str(one.job.seed) for one in ended if one.error]
    if failed:
        click.echo(f"{len(failed)} of {len(jobs)} seeds failed: {', '.join(failed)}")
    if stop.requested:
        begun = [one.job for one in ended]
        rest = [str(job.seed) for job in jobs if job not in begun]
        if rest:
            click.echo(f"not begun: seed {', '.join(rest)}")
        raise SystemExit(130)
    if failed or any(one.found_an_error for one in ended):
        raise SystemExit(1)


def _compare(ended: list[SeedOutcome], above: Path) -> None:
    finished = [one.job for one in ended if one.finished]
    if finished:
        first = finished[0]
        name = first.folder.name.rpartition("-seed")[0]
        show_comparison([job.folder for job in finished], above / f"{name}-seeds.png")
