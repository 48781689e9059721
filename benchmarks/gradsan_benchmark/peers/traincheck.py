"""TrainCheck: invariants are inferred from the original program, the best case for it, and checked on the mutant."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradsan_benchmark.edits import Source
from gradsan_benchmark.sarif import Finding
from gradsan_benchmark.syntax import networks
from gradsan_benchmark.tools import Said

COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass
class TrainCheck:
    """Half a minute and more for each original and for each mutant: it is asked last, about two bugs of a program,
    until its time is over, and about the rest by a later run. What it finds broken has no line, and counts unless the
    original breaks it, too."""

    commands: Path
    limit: float = 900.0
    name: str = "TrainCheck"
    until: float = math.inf
    """When its time is over, by the clock that all processes share."""
    known: dict[Path, Path | str] = field(default_factory=dict)

    @property
    def settings(self) -> str:
        return (
            "`traincheck-collect` and `traincheck-infer` on the original; `traincheck-collect --invariants … "
            "--sampling-interval 1` and `traincheck-check` on the mutant; asked about at most two bugs of a program, "
            "as far as the time went"
        )

    def run(self, program: Path, original: Path) -> Said | None:
        started = time.monotonic()
        if started > self.until:
            return None
        found, fault = self.check(program, original)
        ended = time.monotonic()
        return None if ended > self.until and fault else Said(found, ended - started, fault)

    def check(self, program: Path, original: Path) -> tuple[list[Finding], str]:
        if original not in self.known:
            self.known[original] = self.infer(original)
        invariants = self.known[original]
        if isinstance(invariants, str):
            return [], invariants
        options = ("--invariants", str(invariants), "--sampling-interval", "1", "--output-dir", "_target")
        fault = self.call(program, "collect", *tracked(program), *options)
        fault = fault or self.call(program, "check", "-f", "_target", "-i", str(invariants), "-o", "_checked")
        broken = sorted(
            {text for path in program.parent.rglob("_checked*/**/failed.log") for text in violated(path)}
        )
        return [Finding(text, "", 0) for text in broken], fault

    def infer(self, original: Path) -> Path | str:
        fault = self.call(original, "collect", *tracked(original), "--output-dir", "_reference")
        fault = fault or self.call(original, "infer", "-f", "_reference", "-o", "_invariants.json")
        made = original.parent / "_invariants.json"
        return fault or (made if made.exists() else "no invariants were written")

    def call(self, program: Path, part: str, *words: str) -> str:
        """Why it failed, "" where it did not."""
        command = [str(self.commands / f"traincheck-{part}"), *words]
        # It runs a rewritten copy from a folder of its own: the modules beside the program have to be found.
        environment = os.environ | {"PYTHONPATH": str(program.parent)}
        limit = max(0.0, min(self.limit, self.until - time.monotonic()))
        try:
            done = subprocess.run(
                command,
                cwd=program.parent,
                env=environment,
                capture_output=True,
                text=True,
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"traincheck-{part} was not done after {limit:.0f} s"
        return f"traincheck-{part}: status {done.returncode}: {_last_error(done)}" if done.returncode else ""


def _last_error(done: subprocess.CompletedProcess[str]) -> str:
    """What the program or the tool itself raised."""
    lines = [COLOURS.sub("", line) for line in (done.stdout + done.stderr).strip().splitlines()]
    raised = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
    return ([*lines, "no word", *raised][-1] if raised else (lines or ["no word"])[-1])[:200]


def tracked(program: Path) -> list[str]:
    """The program in a form that it takes: what it puts in front of the script must not come before this import."""
    text = program.read_text(encoding="utf-8")
    plain = program.with_name(f"plain_{program.name}")
    plain.write_text(text.replace("from __future__ import annotations\n", "\n"), encoding="utf-8")
    names = sorted(n for n in networks(Source(text)) if "." not in n)
    return ["--pyscript", plain.name, *(["--models-to-track", *names] if names else [])]


def violated(log: Path) -> Iterator[str]:
    """The invariants of a log: objects of JSON, one behind the other."""
    text, place, decoder = log.read_text(encoding="utf-8"), 0, json.JSONDecoder()
    while place < len(text):
        found: dict[str, Any]
        found, place = decoder.raw_decode(text, place)
        yield str(found["invariant"]["text_description"])
        while place < len(text) and text[place].isspace():
            place += 1
