"""One lock file, and the entry of one program in it: read before a run, written after it."""

from __future__ import annotations

from pathlib import Path

from gradsan.judge.engine import Engine
from gradsan.lock.compare import compare
from gradsan.lock.model import Flow
from gradsan.lock.sink import LockSink
from gradsan.lock.text import LockError, plain, read, written
from gradsan.lock.words import sentence

NAME = "gradsan.lock"


class LockFile:
    def __init__(self, path: Path) -> None:
        """One that is not there is empty."""
        self.path = path.resolve()
        self.shown = str(path)
        self.exists = self.path.exists()
        self.entries = read(self.path) if self.exists else {}

    def locked(self, name: str) -> Flow:
        if not self.exists:
            raise LockError(f"there is no {self.shown}; write it with `gradsan lock`")
        if name not in self.entries:
            raise LockError(f"{self.shown} has no entry for {name!r}; write it with `gradsan lock`")
        return self.entries[name]

    def sink(self, engine: Engine, locked: Flow | None) -> LockSink:
        return LockSink(engine, self.path.parent, locked)

    def changes(self, name: str, flow: Flow) -> list[str]:
        """What an entry that is about to be written says otherwise than the one that is there."""
        old = self.entries.get(name)
        return [sentence(change) for change in compare(old, flow)] if old is not None else []

    def with_entry(self, name: str, flow: Flow) -> str:
        return written({**self.entries, name: flow})


def program_entry(script: str, folder: Path) -> str:
    """The same from every folder and on every machine."""
    if script.startswith("-m "):
        return f"program {plain(script)}"
    path = Path(script).resolve()
    own = path.relative_to(folder) if path.is_relative_to(folder) else path
    return f"program {plain(own.as_posix())}"


def test_entry(node: str) -> str:
    return f"test {plain(node)}"
