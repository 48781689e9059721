"""Linters of other people, from an environment of their own beside the one that runs here."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gradsan_benchmark import forks
from gradsan_benchmark.sarif import Finding
from gradsan_benchmark.tools import Said

LINE = re.compile(r"^(?P<file>[^:\n]+\.py):(?P<line>\d+):(?:\d+:)? (?P<rule>\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Linter:
    """Reads every file of the program's folder that could have been changed; prints `file:line: RULE`."""

    name: str
    settings: str
    packages: Path
    work: Callable[[list[str]], object]

    def run(self, program: Path, original: Path) -> Said:
        files = changed(program.parent, original.parent) or [program.name]

        def work() -> None:
            sys.path.insert(0, str(self.packages))
            self.work(files)

        done = forks.call(work, program.parent, 60.0)
        if done.status not in (0, 1) or "Traceback" in done.stderr:
            last = (done.stderr.strip().splitlines() or ["no word"])[-1]
            return Said([], done.seconds, f"status {done.status}: {last[:200]}")
        found = [Finding(m["rule"], m["file"], int(m["line"])) for m in LINE.finditer(done.stdout)]
        return Said(found, done.seconds)


def changed(folder: Path, original: Path) -> list[str]:
    """The files that differ from the original's; a linter need not read a whole library again for each mutant."""
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*.py")]
    return [
        n
        for n in names
        if not (original / n).exists() or (original / n).read_bytes() != (folder / n).read_bytes()
    ]


def torchfix(files: list[str]) -> None:
    """All its rules, by its own flake8 entry: the command starts a pool of processes for each file."""
    from torchfix.torchfix import TorchChecker  # type: ignore[import-not-found]

    for file in files:
        lines = Path(file).read_text(encoding="utf-8").splitlines(keepends=True)
        for line, _, message, *_ in TorchChecker(None, lines).run():
            print(f"{file}:{line}: {message}")


def mldoct(files: list[str]) -> None:
    from mldoctor.linter import lint_script  # type: ignore[import-not-found]

    for file in files:
        found, _ = lint_script(file)
        for issue in found:
            rule = re.sub(r"\W+", "_", str(issue.get("type") or issue.get("message")))
            print(f"{file}:{issue.get('line') or 0}: {rule}")
