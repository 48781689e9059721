"""The same training with many seeds: who runs them is exchangeable, what is made of their ends is decided here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gradsan.rl.config import Config
from gradsan.rl.errors import ConfigError
from gradsan.rl.runs import Run, free
from gradsan.rl.seeds_display import SeedsDisplay
from gradsan.rl.signals import StopRequest
from gradsan.rl.training import TrainingOutcome


@dataclass(frozen=True)
class SeedJob:
    """One seed to train, in a folder that is its own."""

    config: Config
    folder: Path

    @property
    def seed(self) -> int:
        return self.config.seed

    @property
    def saved(self) -> bool:
        return Run(self.folder).checkpoint.is_file()


@dataclass(frozen=True)
class SeedOutcome:
    """How the training of a seed ended: with an outcome, or with a sentence that says why there is none, or without
    either, if it was stopped too early to save anything."""

    job: SeedJob
    training: TrainingOutcome | None = None
    error: str = ""

    @property
    def finished(self) -> bool:
        return self.training is not None and self.training.finished

    @property
    def found_an_error(self) -> bool:
        return self.training is not None and any(one.severity == "error" for one in self.training.findings)


# Runs these seeds, shows how far they are, and yields each as it ends, in any order. Where a stop is requested, the
# seeds under way save and end, and no more are begun. Closing the iterator ends what is under way.
SeedRunner = Callable[[Sequence[SeedJob], SeedsDisplay, StopRequest], Iterator[SeedOutcome]]

WORD = re.compile(r"(\d+)(?:-(\d+))?")


def parse_seeds(text: str) -> list[int]:
    """`10`: the seeds 1 to 10; `3-7`, `1,4,9` and `1-3,8`: just these."""
    words = [word.strip() for word in text.strip().rstrip(",").split(",")]
    matches = [WORD.fullmatch(word) for word in words]
    bounds = [(int(found[1]), int(found[2] or found[1])) for found in matches if found is not None]
    if len(bounds) < len(words) or any(last < first for first, last in bounds):
        raise ConfigError(
            f"--seeds {text}: give a number of seeds, a range such as 1-20, or a list such as 1,4,9."
        )
    if text.strip().isdecimal():
        bounds = [(1, int(text))]
    seeds = list(dict.fromkeys(seed for first, last in bounds for seed in range(first, last + 1)))
    if not seeds:
        raise ConfigError("--seeds 0 would train nothing.")
    return seeds


def jobs_for(config: Config, seeds: Sequence[int], above: Path) -> list[SeedJob]:
    """Folders as `train` names them, none of which holds anything yet."""
    configs = [replace(config, seed=seed) for seed in seeds]
    try:
        return [SeedJob(one, free(Run.folder_for(one, above))) for one in configs]
    except OSError as error:
        raise ConfigError(f"Cannot make runs in {above}: {error.strerror}.") from error


def train_seeds(
    jobs: Sequence[SeedJob], run: SeedRunner, display: SeedsDisplay, stop: StopRequest
) -> list[SeedOutcome]:
    """Every seed once, and those that failed once more, from their last checkpoint where they have one."""
    ended = _round(jobs, run, display, stop)
    failed = [one for one in ended if one.error]
    # What could not even begin would fail in the same way again, for every seed.
    if failed and not any(job.folder.exists() for job in jobs):
        raise ConfigError(failed[0].error)
    again = [one.job for one in failed] if not stop.requested else []
    for one in failed if again else ():
        how = "from its last checkpoint" if one.job.saved else "from the start"
        display.say(f"seed {one.job.seed} failed: {one.error} Trying again {how}.")
    ended = [one for one in ended if one.job not in again] + _round(again, run, display, stop)
    for one in ended:
        if one.error:
            display.say(f"seed {one.job.seed} failed{' again' if one.job in again else ''}: {one.error}")
    return sorted(ended, key=lambda one: jobs.index(one.job))


def _round(
    jobs: Sequence[SeedJob], run: SeedRunner, display: SeedsDisplay, stop: StopRequest
) -> list[SeedOutcome]:
    ended = []
    for outcome in run(jobs, display, stop) if jobs else ():
        ended.append(outcome)
        display.ended(outcome.job.seed, finished=outcome.finished)
        if not outcome.error:
            display.say(f"seed {outcome.job.seed}: {_in_a_line(outcome)}")
    return ended


def _in_a_line(outcome: SeedOutcome) -> str:
    training = outcome.training
    if training is None:
        return "stopped before there was anything to save"
    if not training.finished:
        return f"stopped at step {training.step:,}; continue with --resume {training.folder}"
    mean = sum(training.returns) / len(training.returns) if training.returns else float("nan")
    return f"{mean:.1f} after {training.step:,} steps in {training.seconds:.0f} s: {training.folder}"
