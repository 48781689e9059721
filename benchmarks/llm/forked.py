"""Runs `program.py` in forks of a process that has imported the libraries already: they take longer than a training."""

from __future__ import annotations

import itertools
import os
import runpy
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TextIO

PROGRAM = Path(__file__).with_name("program.py")
TURN = 0.25


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
    return _forked(lambda: _sanitized(_words(case, mode, report, script, include)))


def _words(case: str, mode: str, report: Path, script: Path, include: str = "trl") -> list[str]:
    options = ["--mode", mode, "--fail-on", "never", "--format", "json", "--output", str(report)]
    options += ["--include", include] if include else []
    return [*options, script.name, *case.split()]


def _alone(case: str) -> None:
    sys.argv = [PROGRAM.name, *case.split()]
    runpy.run_path(PROGRAM.name, run_name="__main__")


def _sanitized(arguments: list[str]) -> None:
    from gradsan.cli import main

    sys.argv = ["gradsan", "run", *arguments]
    main()


def in_turns(case: str, mode: str, report: Path) -> tuple[Ran, Ran, Ran]:
    """The bare run, the watched one and the bare one again, a quarter of a second of each after the other: what else
    the machine does comes and goes more slowly than that, and hits all three alike."""
    bodies = (
        lambda: _alone(case),
        lambda: _sanitized(_words(case, mode, report, PROGRAM)),
        lambda: _alone(case),
    )
    runs = [_started(body) for body in bodies]
    for child, _ in runs:
        os.kill(child, signal.SIGSTOP)
    statuses: dict[int, int] = {}
    for child, _ in itertools.cycle(runs):
        if len(statuses) == len(runs):
            break
        if child not in statuses:
            os.kill(child, signal.SIGCONT)
            time.sleep(TURN)
            os.kill(child, signal.SIGSTOP)
            ended, status = os.waitpid(child, os.WNOHANG)
            statuses |= {child: status} if ended else {}
    bare, watched, again = (_measured(statuses[child], _told(out)) for child, out in runs)
    return bare, watched, again


def _forked(body: Callable[[], None]) -> tuple[int, str]:
    child, out = _started(body)
    _, status = os.waitpid(child, 0)
    return status, _told(out)


def _started(body: Callable[[], None]) -> tuple[int, TextIO]:
    out = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - closed where it is read
    child = os.fork()
    if child:
        return child, out
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


def _told(out: TextIO) -> str:
    with out:
        out.seek(0)
        return out.read()


def _measured(status: int, told: str) -> Ran:
    lines = [line.split() for line in told.splitlines() if line.startswith("weights ")]
    if not lines:
        sys.exit(f"the run ended with status {status}:\n{told[-3000:]}")
    return Ran(lines[-1][1], float(lines[-1][3]))
