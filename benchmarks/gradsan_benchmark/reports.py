"""The reports track: programs modelled on real reports, each with its repaired twin."""

from __future__ import annotations

import json
import random
import re
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gradsan_benchmark import score
from gradsan_benchmark.programs import Program, from_folder, single
from gradsan_benchmark.run import Row, entry
from gradsan_benchmark.tools import Tool

MARK = re.compile(r"# BUG((?: GS\d{3})+)")
FAMILIES = {
    "1": "mutation",
    "2": "missing",
    "3": "leak",
    "4": "order",
    "5": "magnitude",
    "6": "shape",
    "7": "distributed",
    "8": "meaning",
}


@dataclass(frozen=True)
class Pair:
    bug: Program
    twin: Program
    lines: tuple[int, ...]
    codes: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"report:{self.bug.name}"

    @property
    def family(self) -> str:
        return FAMILIES.get(self.codes[0][2:3], "other") if self.codes else "other"


def of_repository(root: Path, place: Path) -> Iterator[Pair]:
    """Pairs whose wrong line is marked by a comment, which is taken away before anyone looks."""
    for kind in ("bugs", "unseen"):
        folder = root / "tests" / "programs" / kind
        for twin in from_folder(folder, f"twins/{kind}", place, only_fixed=True):
            path = folder / twin.script.replace("_fixed.py", ".py")
            bug = single(path, kind, place)
            text = path.read_text(encoding="utf-8")
            marks = [(n, m) for n, line in enumerate(text.splitlines(), 1) if (m := MARK.search(line))]
            plain = re.sub(r"[ \t]*# BUG[^\n]*", "", text)
            (bug.folder / bug.script).write_text(plain, encoding="utf-8")
            codes = tuple(code for _, mark in marks for code in mark[1].split())
            yield Pair(bug, twin, tuple(n for n, _ in marks), tuple(dict.fromkeys(codes)))


def of_corpus(corpus: Path, place: Path) -> Iterator[Pair]:
    """A folder with `index.json`, as `benchmarks/accuracy.py` describes it."""
    for case in json.loads((corpus / "index.json").read_text(encoding="utf-8")):
        bug = single(corpus / f"{case['name']}.py", "corpus", place)
        twin = single(corpus / f"{case['name']}_fixed.py", "twins/corpus", place)
        lines = (*case["culprit_lines"], *case.get("also_fine", ()))
        yield Pair(bug, twin, tuple(lines), tuple(case["codes"]))


def sample(pairs: list[Pair], size: int, seed: int) -> list[Pair]:
    if size >= len(pairs):
        return pairs
    return sorted(random.Random(seed).sample(pairs, size), key=lambda p: p.bug.name)


def work(pairs: Iterable[Pair], tools: list[Tool], known: Iterable[Row]) -> Iterator[Row]:
    """One row per pair; what is in `known` already is not asked again."""
    before = {row["name"]: row for row in known}
    for pair in pairs:
        row = before.get(pair.name) or {
            "name": pair.name,
            "program": pair.bug.name,
            "origin": pair.bug.origin,
            "kind": "report",
            "family": pair.family,
            "codes": list(pair.codes),
            "file": pair.bug.script,
            "lines": list(pair.lines),
            "tools": {},
        }
        wanted = [tool for tool in tools if tool.name not in row["tools"]]
        if wanted:
            _ask(pair, wanted, row)
            yield row


def run(pairs: list[Pair], tools: list[Tool], known: list[Row], results: Path, seconds: float) -> None:
    """Appends to `results`, and breaks off after `seconds`."""
    until = time.monotonic() + seconds
    if seconds <= 0 or not tools:
        return
    with results.open("a", encoding="utf-8") as file:
        for row in work(pairs, tools, known):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            file.flush()
            if time.monotonic() > until:
                break


def _ask(pair: Pair, tools: list[Tool], row: Row) -> None:
    with tempfile.TemporaryDirectory() as place:
        bug = pair.bug.copy(Path(place, "bug"))
        twin = pair.twin.copy(Path(place, "twin"))
        for tool in tools:
            on_twin, on_bug = tool.run(twin, twin), tool.run(bug, twin)
            if on_twin is None or on_bug is None:
                continue
            said = entry(on_bug)
            said["outcome"] = score.outcome(on_bug.findings, pair.bug.script, pair.lines, pair.codes)
            said["alarms"] = [score.plain(f) for f in on_twin.findings]
            said["fault"] = on_bug.fault or on_twin.fault
            row["tools"][tool.name] = said
