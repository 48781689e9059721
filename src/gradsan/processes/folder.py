"""The traces of one run, one file for each process."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gradsan.processes.identity import identity
from gradsan.record.trace import TraceWriter

SUFFIX = ".trace"
BESIDE = ".processes"  # the folder beside a trace FILE that the traces of other processes go to
PREFIX = "gradsan-"
ATTEMPTS = 20  # to remove a folder that a last process is writing to


def open_trace(folder: str, **about: Any) -> TraceWriter:
    """A file of its own for this process; one that was replaced by `exec` has the same number once more."""
    process, about = identity(), {"began": time.time(), **about}
    os.makedirs(folder, exist_ok=True)
    for count in itertools.count():
        name = f"{process['host']}-{process['pid']}" + (f"-{count}" if count else "") + SUFFIX
        if not os.path.exists(path := os.path.join(folder, name)):
            return TraceWriter(Path(path), **about, process=process)
    raise AssertionError


def traces_in(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.glob(f"*{SUFFIX}") if path.is_file())


def beside(file: Path) -> Path:
    return file.with_name(file.name + BESIDE)


def scratch() -> str:
    return tempfile.mkdtemp(prefix=PREFIX)


def scratch_of_ranks() -> str:
    """One for all ranks that one launcher has started on this machine: they have no parent of ours in common."""
    launcher = f"{os.getppid()}-{_started(os.getppid())}-{os.environ.get('MASTER_PORT', '')}"
    path = os.path.join(tempfile.gettempdir(), f"{PREFIX}{os.getuid()}-{launcher}")
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, 0o700)
    if os.path.islink(path) or os.stat(path).st_uid != os.getuid():
        return scratch()  # somebody else's: then each rank is on its own
    return path


def _started(pid: int) -> str:
    """When a process was started, so that a number which is used again is another one."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19]
    except (OSError, IndexError, ValueError):
        return ""


def remove(folder: str) -> None:
    for _ in range(ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.isdir(folder):
            return


@contextlib.contextmanager
def alone(folder: str) -> Iterator[None]:
    """One process of this machine after the other."""
    import fcntl

    with open(os.path.join(folder, ".turn"), "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def is_first(folder: str, what: str) -> bool:
    """Whether no other process of this machine has said so before."""
    try:
        os.close(os.open(os.path.join(folder, what), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError:
        return False
    return True
