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
def command(runs: tuple[Path, ...], output: Path) -> None:
    """Compare RUNS: those of one algorithm and environment are taken together as seeds."""
    need_rl()
    with plain_errors():
        from rich.console import Console
        from rich.table import Table

        from gradsan.rl.comparing import load_groups, plot

        groups = load_groups(list(runs))
        try:
            plot(groups, output)
        except ValueError as error:  # what matplotlib says of an ending that it does not know
            raise click.ClickException(f"Cannot write {output}: {error}") from error
        table = Table("runs", "seeds", "steps", "final return", "95 % interval")
        for group in groups:
            mean, low, high = (values[-1] for values in group.interval())
            cells = (group.label, str(len(group.curves)), f"{group.steps[-1]:.0f}", f"{mean:.1f}")
            table.add_row(*cells, f"{low:.1f} … {high:.1f}" if len(group.curves) > 1 else "–")
        Console().print(table)
        for group in groups:
            for caution in group.cautions:
                click.echo(f"careful with {group.label}: {caution}")
        click.echo(f"plot: {output}")
