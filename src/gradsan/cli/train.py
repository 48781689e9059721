"""`gradsan train ALGO --env ID`: click finds the algorithm, tyro the typed hyperparameters."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradsan.cli._rl import find_own_modules, need_rl, plain_errors
from gradsan.cli.seeds import Where, train_all

if TYPE_CHECKING:
    from gradsan.rl.config import Config

ALGORITHMS = ("dqn", "reinforce", "a2c", "ppo", "sac", "td3")


class AlgorithmFirst(click.Command):
    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [
            f"[{'|'.join(ALGORITHMS)}]",
            "--env ID",
            "[--steps N] [--seed N|--seeds 1-20] [HYPERPARAMETERS]",
        ]


@click.command(cls=AlgorithmFirst, add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("algo", required=False)
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="")
@click.option(
    "--resume", type=click.Path(path_type=Path), help="Continue the run in this folder, bit for bit."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the run, or with --seeds of all runs. [default: runs/ALGO-ENV-seedN]",
)
@click.option(
    "--seeds", metavar="SEEDS", help="Train many: 10 (1 to 10), 1-20, or 1,4,9; they are compared at the end."
)
@click.option(
    "--at-once",
    type=click.IntRange(1),
    metavar="N",
    help="Seeds in processes, N at a time. [default: small PPO together in one process, else one per core]",
)
@click.option("--ray", "on_ray", is_flag=True, help="Train the seeds as tasks of Ray.")
@click.option("--address", metavar="ADDRESS", help="Of a Ray cluster. [default: a Ray of its own, here]")
@click.option("-h", "--help", "asked", is_flag=True, help="With an algorithm, list its hyperparameters.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    algo: str | None,
    options: tuple[str, ...],
    resume: Path | None,
    out: Path | None,
    seeds: str | None,
    asked: bool,
    **where: Any,
) -> None:
    """Train a reference agent.

    \b
    gradsan train ppo --env CartPole-v1 --seed 3
    gradsan train ppo --help                        every hyperparameter, with its default
    gradsan train --resume runs/ppo-CartPole-v1-seed3
    gradsan train ppo --env CartPole-v1 --seeds 1-20

    Writes checkpoints, CSV and TensorBoard logs and a plot of the learning curve. Ctrl-C saves and stops.
    The exit status is 1 where the sanitizer found an error, as with `gradsan run`.
    """
    # The algorithm may stand anywhere; click takes the first of the words that it does not know for it.
    words = [word for word in (algo, *options) if word is not None]
    algo = next((word for word in words if word in ALGORITHMS), None if resume is not None else algo)
    if algo in words:
        words.remove(str(algo))
    if resume is not None and out is not None:
        ctx.fail("--out names a new run, and --resume continues an old one: give one of them.")
    if seeds is not None and (resume is not None or _value_of("--seed", words) is not None):
        ctx.fail("--seeds begins new runs, each with a seed of its own: give it without --resume and --seed.")
    if seeds is None and any(where.values()):
        ctx.fail("--at-once, --ray and --address go with --seeds.")
    if where["address"] is not None and not where["on_ray"]:
        ctx.fail("--address goes with --ray.")
    if algo is None and resume is None:
        click.echo(ctx.get_help())
        ctx.exit(0 if asked else 2)
    if algo is not None and algo not in ALGORITHMS:
        ctx.fail(f"Unknown algorithm {algo!r}: choose from {', '.join(ALGORITHMS)}.")
    need_rl()
    find_own_modules()
    with plain_errors():
        config = parse(algo, [*words, *(["--help"] if asked else [])], resume)
        if seeds is not None:
            train_all(config, seeds, out or Path("runs"), Where(**where))
        else:
            _train(config, out, resume)


def parse(algo: str | None, options: list[str], resume: Path | None) -> Config:
    """Hyperparameters from the command line, on top of what suits the environment, or of what was saved."""
    import tyro

    from gradsan.rl.algorithms import ALGORITHMS as AGENTS
    from gradsan.rl.algorithms import name_of, preset
    from gradsan.rl.errors import ConfigError
    from gradsan.rl.runs import Run

    default: Any = tyro.MISSING_NONPROP
    if resume is not None:
        default = Run(resume).saved()[0]
        if algo not in (None, name_of(default)):
            raise ConfigError(f"{resume} is a run of {name_of(default)}, not of {algo}.")
        algo = name_of(default)
    elif (env := _value_of("--env", options)) is not None:
        default = preset(str(algo), env)
    config: Config = tyro.cli(
        AGENTS[str(algo)].config,
        args=options,
        default=default,
        prog=f"gradsan train {algo}",
        description=_whose_defaults(str(algo), _value_of("--env", options), resume),
    )
    return config


def _whose_defaults(algo: str, env: str | None, resume: Path | None) -> str:
    """The head of the list of hyperparameters: what the defaults below it are."""
    from gradsan.rl.algorithms import own_defaults, tuned_environments
    from gradsan.rl.config import option

    if resume is not None:
        return f"The defaults are those of the run in {resume}."
    if env is None:
        tuned = ", ".join(tuned_environments(algo))
        others = f" Others for {tuned}: give --env to see them." if tuned else ""
        return _in_80_columns(f"The defaults are those of {algo}.{others}")
    own = ", ".join(option(name) for name in own_defaults(algo, env))
    unusual = f" Its own, other than usual: {own}." if own else ""
    return _in_80_columns(f"The defaults are those of {algo} for {env}.{unusual}")


def _in_80_columns(text: str) -> str:
    return textwrap.fill(text, 80, break_on_hyphens=False)


def _value_of(option: str, options: list[str]) -> str | None:
    for position, text in enumerate(options):
        if text.startswith(f"{option}="):
            return text.split("=", 1)[1]
        if text == option and position + 1 < len(options):
            return options[position + 1]
    return None


def _train(config: Config, out: Path | None, resume: Path | None) -> None:
    import torch

    from gradsan.rl.training import train

    # Networks of this size gain nothing from more threads, and one thread gives the same result everywhere.
    torch.set_num_threads(1)
    outcome = train(config, out, resume=resume)
    speed = outcome.step / max(outcome.seconds, 1e-9)
    click.echo(f"{outcome.step} steps in {outcome.seconds:.0f} s ({speed:.0f} steps/s): {outcome.folder}")
    if not outcome.finished:
        raise SystemExit(130)
    if any(finding.severity == "error" for finding in outcome.findings):
        raise SystemExit(1)
