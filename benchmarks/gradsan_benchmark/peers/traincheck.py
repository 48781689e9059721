"""TrainCheck: invariants are inferred from the original program, the best case for it, and checked on the mutant."""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from gradsan_benchmark.edits import Source
from gradsan_benchmark.sarif import Finding
from gradsan_benchmark.syntax import networks
from gradsan_benchmark.tools import Said


@dataclass
class TrainCheck:
    """Collect and infer once per original, then collect and check each mutant; each part has its time limit."""

    commands: Path
    limit: float = 600.0
    name: str = "TrainCheck"
    known: dict[Path, Path | str] = field(default_factory=dict)

    @property
    def settings(self) -> str:
        return (
            "`traincheck-collect`, `-infer` on the original, `-collect --invariants`, `-check` on the mutant; "
            f"at most {self.limit:.0f} s for each"
        )

    def run(self, program: Path, original: Path) -> Said:
        started = time.monotonic()
        if original not in self.known:
            self.known[original] = self.infer(original)
        invariants = self.known[original]
        if isinstance(invariants, str):
            return Said([], time.monotonic() - started, invariants)
        if program == original:
            return Said([], time.monotonic() - started)
        failed = self.call(
            program, "collect", *tracked(program), "--invariants", str(invariants), "--output-dir", "_t"
        )
        failed = failed or self.call(program, "check", "-f", "_t", "-i", str(invariants), "-o", "_r")
        if failed:
            return Said([], time.monotonic() - started, failed)
        broken = sorted((program.parent / "_r").rglob("failed*.log"))
        found = [Finding(f"invariant {n}", "", 0) for n, _ in enumerate(_logged(broken))]
        return Said(found, time.monotonic() - started)

    def infer(self, original: Path) -> Path | str:
        failed = self.call(original, "collect", *tracked(original), "--output-dir", "_reference")
        failed = failed or self.call(original, "infer", "-f", "_reference", "-o", "_invariants.json")
        made = original.parent / "_invariants.json"
        return failed or (made if made.exists() else "no invariants were written")

    def call(self, program: Path, part: str, *words: str) -> str:
        """ "" where it went well."""
        command = [str(self.commands / f"traincheck-{part}"), *words]
        try:
            done = subprocess.run(
                command, cwd=program.parent, capture_output=True, text=True, timeout=self.limit
            )
        except subprocess.TimeoutExpired:
            return f"traincheck-{part} was not done after {self.limit:.0f} s"
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        return f"traincheck-{part}: status {done.returncode}: {last[:200]}" if done.returncode else ""


def tracked(program: Path) -> list[str]:
    names = sorted(n for n in networks(Source(program.read_text(encoding="utf-8"))) if "." not in n)
    return ["--pyscript", program.name, *(["--models-to-track", *names] if names else [])]


def _logged(paths: list[Path]) -> list[object]:
    found: list[object] = []
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
    return found
