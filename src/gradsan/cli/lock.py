"""`gradsan lock`: write down how the gradient flows, or check that it still does."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from gradsan.cli import options
from gradsan.cli.run import ProgramCommand
from gradsan.cli.run import command as run_command
from gradsan.lock.file import NAME, LockFile
from gradsan.lock.sink import CODE
from gradsan.lock.text import LockError
from gradsan.settings import MODES, PROCESSES

TRACING = MODES[:2]  # what is not traced cannot be written down


@click.command(cls=ProgramCommand, context_settings={"allow_interspersed_args": False})
@click.option("-m", "module", metavar="MODULE", help="Run a module, as `python -m` does.")
@click.option(
    "--check", is_flag=True, help="Write nothing: report what is otherwise than the lock says (GS901)."
)
@click.option("--lock", metavar="FILE", help=f"The file; {NAME} in the working directory by default.")
@click.option(
    "--mode", type=click.Choice(TRACING), default="adaptive", show_default=True, help="As in `gradsan run`."
)
@click.option(
    "--processes", type=click.Choice(PROCESSES), default="all", show_default=True, help="As in `gradsan run`."
)
@click.option(
    "--include", multiple=True, metavar="PACKAGE", help="Count an installed package as your own code."
)
@click.option(
    "--config", metavar="FILE", help="Take defaults from FILE, not from the nearest pyproject.toml."
)
@click.option("--no-config", is_flag=True, help="Take no defaults from any file.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[SCRIPT [ARGS]...]")
@click.pass_context
def command(ctx: click.Context, /, words: tuple[str, ...], **given: Any) -> None:
    """Write down which loss trains which network, and how, so that a change does not go unnoticed.

    The script is run once, and its entry in gradsan.lock is written, or with --check compared. Without a SCRIPT,
    every program of the file is run again, with the arguments that it was locked with.

    Exit status: 0 written, or nothing has changed; 1 something has; the script's own where it failed; 2 on bad
    usage; 3 where nothing could be watched.
    """
    options.with_defaults(ctx, given)
    given["mode"] = given["mode"] if given["mode"] in TRACING else "adaptive"  # a file may say "light"
    if given["module"] is None and not words:
        ctx.exit(_each(given))
    settings = {**given, "config": None, "no_config": True}  # what is in a file is known by now
    if given["check"]:
        settings |= {"locked": True, "select": (CODE,), "no_baseline": True}
    else:
        settings |= {"write_lock": True, "quiet": True, "fail_on": "never", "no_baseline": True}
    del settings["check"]
    ctx.invoke(run_command, words=words, **settings)


def _each(given: dict[str, Any]) -> int:
    """One process for each program, in the folder of the lock: none sees what another has left."""
    try:
        file = LockFile(Path(given["lock"] or NAME))
        if not file.exists:
            raise LockError(f"there is no {file.shown}; write it with `gradsan lock SCRIPT`")
    except LockError as error:
        options.stop(str(error))
    worst = 0
    for name, flow in sorted(file.entries.items()):
        kind, _, program = name.partition(" ")
        if kind != "program":
            continue
        click.echo(f"gradsan: {program}", err=True)
        words = [*(["--check"] if given["check"] else []), "--lock", str(file.path), "--mode", given["mode"]]
        words += [word for package in given["include"] for word in ("--include", package)]
        words += [
            *(shlex.split(program) if program.startswith("-m ") else [program]),
            *shlex.split(flow.arguments),
        ]
        done = subprocess.run(
            [sys.executable, "-m", "gradsan", "lock", *words], cwd=file.path.parent, check=False
        )
        worst = max(worst, done.returncode if done.returncode >= 0 else 128 - done.returncode)
    return worst
