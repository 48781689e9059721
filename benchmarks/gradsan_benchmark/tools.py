"""Tools by the protocol: a command that is given a program and hands in SARIF."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gradsan_benchmark import forks, sarif
from gradsan_benchmark.sarif import Finding


@dataclass(frozen=True)
class Said:
    findings: list[Finding]
    seconds: float
    fault: str = ""
    """Why nothing could be read from the tool: it then counts as silent, and is listed."""


class Tool(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> str:
        """How it is run, for the page."""
        ...

    def run(self, program: Path, original: Path) -> Said | None:
        """Look at the program; `original` is the right one that it was made from, in a folder of its own.
        None: not now, ask in a later run."""
        ...


@dataclass(frozen=True)
class Command:
    """`{program}` and `{output}` stand for the program's file and for the file that takes the SARIF log.

    Without the first, the program is the last word; without the second, the log is what is printed."""

    name: str
    command: str
    limit: float = 120.0
    warm: bool = True

    @property
    def settings(self) -> str:
        return f"`{self.command}`"

    def run(self, program: Path, original: Path) -> Said:
        with tempfile.TemporaryDirectory() as place:
            output = Path(place, "log.sarif")
            command = self.command if "{program}" in self.command else f"{self.command} {{program}}"
            values = {"program": program.name, "output": str(output)}
            words = [word.format(**values) for word in shlex.split(command)]
            done = self._call(words, program.parent)
            text = output.read_text(encoding="utf-8") if output.exists() else done.stdout
        if not done.in_time:
            return Said([], done.seconds, f"not done after {self.limit:.0f} s")
        try:
            return Said(sarif.read(text, program.parent), done.seconds)
        except ValueError as error:
            last = (done.stderr.strip().splitlines() or [str(error)])[-1]
            return Said([], done.seconds, f"status {done.status}: {last[:200]}")

    def _call(self, words: list[str], cwd: Path) -> forks.Done:
        work = in_this_python(words) if self.warm else None
        if work is not None:
            return forks.call(work, cwd, self.limit)
        started = time.monotonic()
        try:
            done = subprocess.run(
                words, cwd=cwd, capture_output=True, text=True, timeout=self.limit, check=False
            )
        except subprocess.TimeoutExpired:
            return forks.Done(forks.TOO_LONG, "", "", time.monotonic() - started)
        except OSError as error:
            return forks.Done(127, "", str(error), time.monotonic() - started)
        return forks.Done(done.returncode, done.stdout, done.stderr, time.monotonic() - started)


def in_this_python(words: list[str]) -> Callable[[], object] | None:
    """The command as a call, where it would start the Python that runs here: a fork is spared torch's import."""
    here = Path(sys.executable).parent.resolve()
    first = words[0] if os.sep in words[0] else shutil.which(words[0], path=str(here)) or words[0]
    if Path(first).parent.resolve() != here or not Path(first).exists():
        return None
    if Path(first).name.startswith("python"):
        if words[1:2] == ["-m"] and len(words) > 2:
            return lambda: forks.module(*words[2:])
        return None
    with open(first, "rb") as script:
        interpreter = script.readline().removeprefix(b"#!").strip().decode(errors="replace")
        if Path(interpreter).parent.resolve() != here:
            return None
    return lambda: _console_script(first, words)


def _console_script(path: str, words: list[str]) -> None:
    import runpy

    sys.argv = [path, *words[1:]]
    sys.path[0] = str(Path(path).parent)
    runpy.run_path(path, run_name="__main__")
