"""The command line. Each command lives in a file of its own and is imported only when asked for."""

from __future__ import annotations

import difflib
import importlib
import os
import shlex
from typing import Any

import click

from gradsan import __version__
from gradsan.runner.signals import Interrupted, die_of_interrupt

COMMANDS = {
    "run": "Run a training script under the sanitizer.",
    "fix": "Mend what is found, each repair verified in a run of its own.",
    "lint": "Find, without running it, what is wrong in the code by itself.",
    "lock": "Write down how the gradient flows, and be told when that changes.",
    "report": "Judge a recorded trace again, or show it in another format.",
    "explain": "Explain a rule: what it means, why it matters, how to mend it.",
    "learn": "Learn autograd for reinforcement learning, exercise by exercise.",
    "train": "Train a reference agent, gradient-safe by construction.",
    "play": "Evaluate a trained agent, and film it.",
    "compare": "Plot runs over seeds, with bootstrap intervals.",
}


class LazyGroup(click.Group):
    """Loads `gradsan.cli.<name>` on demand, so that `--help` and `--version` stay instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"gradsan.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS:
            ctx.fail(f"No such command '{args[0]}'.{_advice(args)}")
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().main(*args, **kwargs)
        except Interrupted:  # click would make an ordinary exit of it
            return die_of_interrupt()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _advice(args: list[str]) -> str:
    """What the first of these stands for by a slip: a command, or a script to be run."""
    if args[0].endswith(".py") or os.path.isfile(args[0]):
        return f" To run a script: {shlex.join(['gradsan', 'run', *args])}"
    close = difflib.get_close_matches(args[0], COMMANDS, n=1)
    return f" Did you mean '{close[0]}'?" if close else ""


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gradsan", message="%(prog)s %(version)s")
def main() -> None:
    """The gradient sanitizer for PyTorch reinforcement learning.

    Run your training script under it, unchanged: it names the line that broke the gradient,
    says why, and how to mend it.
    """
