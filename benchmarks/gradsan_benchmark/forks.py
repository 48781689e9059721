"""Python programs that need not import torch again: forks of this process, which has done nothing else yet."""

from __future__ import annotations

import contextlib
import gc
import os
import runpy
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

TOO_LONG = -1000


class Done(NamedTuple):
    status: int
    stdout: str
    stderr: str
    seconds: float

    @property
    def in_time(self) -> bool:
        return self.status != TOO_LONG


def warm_up() -> None:
    """Imports what nearly every program imports; nothing of theirs and no tool."""
    import numpy  # noqa: F401
    import torch
    import torch._dynamo  # the first optimizer imports it: a second or two in each fork
    import torch.distributions
    import torch.nn.functional

    with contextlib.suppress(ImportError):
        import gymnasium  # noqa: F401
    torch.set_num_threads(1)
    # A tool is compiled once, not in every fork, also where the environment says otherwise.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # No collection and no look at all objects has to walk torch's own half million in every fork.
    gc.collect()
    gc.freeze()


def call(work: Callable[[], object], cwd: Path, limit: float = 60.0) -> Done:
    """`work()` in a fork, with its output caught; killed with all that it started when the limit is over."""
    with tempfile.TemporaryDirectory() as place:
        out, err = Path(place) / "out", Path(place) / "err"
        started = time.monotonic()
        child = os.fork()
        if not child:
            _child(work, cwd, out, err)
        status = _wait(child, started + limit)
        _kill(child)
        seconds = time.monotonic() - started
        return Done(status, _read(out), _read(err), seconds)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _wait(child: int, until: float) -> int:
    pause = 0.002
    while time.monotonic() < until:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        pause = min(2 * pause, 0.02)
    _kill(child)
    os.waitpid(child, 0)
    return TOO_LONG


def _kill(child: int) -> None:
    """The child leads a group of its own: what it left running goes with it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)


def _child(work: Callable[[], object], cwd: Path, out: Path, err: Path) -> None:
    """Never back from here."""
    status = 1
    try:
        os.setsid()
        for path, number in ((out, 1), (err, 2)):
            os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), number)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.chdir(cwd)
        work()
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def script(path: str, *words: str) -> None:
    """`python PATH WORDS`, in this process."""
    sys.argv = [path, *words]
    sys.path[0] = str(Path(path).resolve().parent)
    runpy.run_path(path, run_name="__main__")


def module(name: str, *words: str) -> None:
    """`python -m NAME WORDS`, in this process."""
    sys.argv = [name, *words]
    sys.path[0] = os.getcwd()
    runpy.run_module(name, run_name="__main__", alter_sys=True)
