"""`gradsan play RUN`: evaluate a trained agent, and film it."""

from __future__ import annotations

from pathlib import Path

import click

from gradsan.cli._rl import find_own_modules, need_rl, plain_errors


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--episodes", type=click.IntRange(1), default=10, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the episodes.")
@click.option("--best", is_flag=True, help="The agent at its best evaluation, not the latest.")
@click.option(
    "--film",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the episodes as .gif, .webp or .mp4.",
)
def command(run: Path, episodes: int, seed: int, best: bool, film: Path | None) -> None:
    """Let the agent of RUN play, without learning."""
    need_rl()
    find_own_modules()
    with plain_errors():
        from gradsan.rl.playing import FILMS, load_agent, play
        from gradsan.rl.runs import Run

        if film is not None and film.suffix.lower() not in FILMS:
            raise click.BadParameter(f"The film must end in {', '.join(FILMS)}.", param_hint="--film")
        returns = play(load_agent(Run(run), best=best), episodes, seed, film)
    for index, value in enumerate(returns, start=1):
        click.echo(f"episode {index}: {value:.1f}")
    click.echo(f"mean {returns.mean():.1f} ± {returns.std():.1f}")
    if film is not None:
        click.echo(f"film: {film}")
