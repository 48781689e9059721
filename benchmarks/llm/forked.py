"""Runs `program.py` in forks of a process that has imported the libraries already: they take longer than a training."""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

PROGRAM = Path(__file__).with_name("program.py")


class Ran(NamedTuple):
    weights: str
    cpu: float
    """Seconds of processor time that `train` took."""


def warm_up() -> None:
    """Everything that a run needs, but for the program itself, which is the user's."""
    os.chdir(PROGRAM.parent)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import accelerate  # noqa: F401
    import peft  # noqa: F401
    import torch
    import trl

    for name in ("SFTTrainer", "DPOTrainer", "RewardTrainer", "GRPOTrainer", "RLOOTrainer"):
        getattr(trl, name)
    torch.set_num_threads(1)


def bare(case: str) -> Ran:
    return _measured(*_forked(lambda: _alone(case)))


def watched(case: str, mode: str, report: Path) -> Ran:
    return _measured(*attempted(case, mode, report, PROGRAM))


def attempted(case: str, mode: str, report: Path, script: Path, include: str = "trl") -> tuple[int, str]:
    """The status of a run that may fail, and what it printed. Lines of the library `include` count, too."""
    options = ["--mode", mode, "--fail-on", "never", "--format", "json", "--output", str(report)]
    options += ["--include", include] if include else []
    return _forked(lambda: _sanitized([*options, script.name, *case.split()]))


def _alone(case: str) -> None:
    sys.argv = [PROGRAM.name, *case.split()]
    runpy.run_path(PROGRAM.name, run_name="__main__")


def _sanitized(arguments: list[str]) -> None:
    from gradsan.cli import main

    sys.argv = ["gradsan", "run", *arguments]
    main()


def _forked(body: Callable[[], None]) -> tuple[int, str]:
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
            status = 1
            try:
                body()
                status = 0
            except SystemExit as ending:
                status = ending.code if isinstance(ending.code, int) else 1
            except BaseException:
                traceback.print_exc()
            sys.stdout.flush()
            os._exit(status)
        _, status = os.waitpid(child, 0)
        out.seek(0)
        return status, out.read()


def _measured(status: int, told: str) -> Ran:
    lines = [line.split() for line in told.splitlines() if line.startswith("weights ")]
    if not lines:
        sys.exit(f"the run ended with status {status}:\n{told[-3000:]}")
    return Ran(lines[-1][1], float(lines[-1][3]))
