"""`gradsan compare RUN…`: runs over seeds, as a table and a plot."""

from __future__ import annotations

from pathlib import Path

import click

from gradsan.cli._rl import need_rl, plain_errors


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("compare.png"),
    show_default=True,
    help="Where to write the plot.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="OPTION",
    help="Group by this option only, such as learning_rate; may be given several times.",
)
def command(runs: tuple[Path, ...], output: Path, by: tuple[str, ...]) -> None:
    """Compare RUNS: those that differ in their seed alone are taken together.

    Every environment has an axis of its own in the plot. With --by, runs that differ in other options
    are taken together as well, and what is mixed is said; `--by algorithm` mixes all options.
    """
    need_rl()
    with plain_errors():
        show_comparison(list(runs), output, by)


def show_comparison(runs: list[Path], output: Path, by: tuple[str, ...] = ()) -> None:
    from rich.console import Console
    from rich.table import Table

    from gradsan.rl.comparing import load_groups, plot

    groups = load_groups(runs, by)
    try:
        plot(groups, output)
    except ValueError as error:  # what matplotlib says of an ending that it does not know
        raise click.ClickException(f"Cannot write {output}: {error}") from error
    for env in dict.fromkeys(group.env for group in groups):
        table = Table(
            "runs", "seeds", "steps", "final return", "95 % interval", title=env, title_justify="left"
        )
        for group in (group for group in groups if group.env == env):
            mean, low, high = (values[-1] for values in group.interval())
            cells = (group.label, str(len(group.curves)), f"{group.steps[-1]:.0f}", f"{mean:.1f}")
            table.add_row(*cells, f"{low:.1f} … {high:.1f}" if len(group.curves) > 1 else "–")
        Console().print(table)
    for group in groups:
        for caution in group.cautions:
            click.echo(f"careful with {group.label} on {group.env}: {caution}")
    click.echo(f"plot: {output}")
