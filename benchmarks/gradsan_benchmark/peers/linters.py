"""Linters of other people, asked in an environment of their own."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradsan_benchmark.sarif import Finding
from gradsan_benchmark.tools import Said

SERVERS: dict[tuple[int, str], subprocess.Popen[str]] = {}


@dataclass(frozen=True)
class Linter:
    """Its time is that of reading the files, once it is loaded."""

    name: str
    linter: str
    settings: str
    python: Path

    def run(self, program: Path, original: Path) -> Said:
        started = time.monotonic()
        files = changed(program.parent, original.parent) or [program.name]
        asked = {"linter": self.linter, "folder": str(program.parent), "files": files}
        server = self.server()
        assert server.stdin is not None
        assert server.stdout is not None
        print(json.dumps(asked), file=server.stdin, flush=True)
        line = server.stdout.readline()
        said: dict[str, Any] = (
            json.loads(line) if line else {"found": [], "fault": "the linter's process ended"}
        )
        found = [Finding(rule, file, number) for rule, file, number in said["found"]]
        return Said(found, time.monotonic() - started, said["fault"])

    def server(self) -> subprocess.Popen[str]:
        """One for each process that asks."""
        key = (os.getpid(), self.linter)
        if key not in SERVERS or SERVERS[key].poll() is not None:
            package = str(Path(__file__).parents[2])
            SERVERS[key] = subprocess.Popen(
                [str(self.python), "-m", "gradsan_benchmark.peers.linter_server"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                env={**os.environ, "PYTHONPATH": package},
            )  # fmt: skip
        return SERVERS[key]


def changed(folder: Path, original: Path) -> list[str]:
    """The files that differ from the original's; a linter need not read a whole library again for each mutant."""
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*.py")]
    return [
        n
        for n in names
        if not (original / n).exists() or (original / n).read_bytes() != (folder / n).read_bytes()
    ]
