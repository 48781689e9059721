"""Runs programs, their mutants and the tools over both, and writes down one JSON object per line."""

from __future__ import annotations

import json
import math
import multiprocessing
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradsan_benchmark import forks, oracle, score
from gradsan_benchmark.cases import Case
from gradsan_benchmark.operators import OPERATORS
from gradsan_benchmark.programs import Program
from gradsan_benchmark.sarif import Finding
from gradsan_benchmark.tools import Said, Tool

Row = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """A program with those of its mutants that are wanted, and the tools that have not judged them yet."""

    program: Program
    cases: tuple[Case, ...]
    tools: tuple[Tool, ...]
    known: tuple[Row, ...]


def jobs(cases: Iterable[Case], programs: Iterable[Program], tools: list[Tool], rows: list[Row]) -> list[Job]:
    """One per program; what is in `rows` already is not done again."""
    by_program: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_program[case.program.name].append(case)
    known: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        known[row["program"]].append(row)
    return [Job(p, tuple(by_program[p.name]), tuple(tools), tuple(known[p.name])) for p in programs]


def run(todo: list[Job], results: Path, processes: int, seconds: float = math.inf) -> None:
    """Appends to `results` as it goes, so that a run that was broken off is taken up again. No program is begun after
    `seconds`, and what was begun is given up."""
    until = time.monotonic() + seconds
    if seconds <= 0:
        return
    forks.warm_up()
    total = sum(1 + len(job.cases) for job in todo)
    done = 0
    with results.open("a", encoding="utf-8") as file:
        for row in _rows(todo, processes):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            file.flush()
            done += 1
            if done % 25 == 0 or sys.stderr.isatty():
                print(f"\r{done}/{total}", end="", file=sys.stderr, flush=True)
            if time.monotonic() > until:
                print(f"\rbroken off after {seconds:.0f} s: {done} of {total}", end="", file=sys.stderr)
                break
    print(file=sys.stderr)


def _rows(todo: list[Job], processes: int) -> Iterator[Row]:
    if processes == 1:
        for job in todo:
            yield from work(job)
        return
    with multiprocessing.get_context("fork").Pool(processes, maxtasksperchild=8) as pool:
        for rows in pool.imap_unordered(_all, todo):
            yield from rows


def _all(job: Job) -> list[Row]:
    return list(work(job))


def work(job: Job) -> Iterator[Row]:
    """The rows that are new for this program: itself, then its mutants."""
    before = {row["name"]: row for row in job.known}
    rows = {
        case.name: row | {"lines": list(case.lines)}
        for case in job.cases
        if (row := before.get(case.name)) and row["diff"] == case.diff
    }
    with tempfile.TemporaryDirectory() as place:
        script = job.program.copy(Path(place, "original"))
        original = before.get(job.program.name)
        new = original is None
        record = oracle.run(script, (), 60) if original is None or len(rows) < len(job.cases) else None
        if original is None:
            original = base(job.program) | suited(record, oracle.run(script, (), 60))
        tools = job.tools if original["kind"] == "original" else ()
        if ask(original, tools, script, script) or new:
            yield original
        for number, case in enumerate(job.cases if tools else ()):
            mutant = case.program.copy(Path(place, str(number)), case.file, case.text)
            row = rows.get(case.name)
            new = row is None
            if row is None:
                row = described(case) | classified(record, mutant, OPERATORS[case.operator].guard)
            if ask(row, tools if row["kind"] != "invalid" else (), mutant, script) or new:
                judge(row, original)
                yield row


def suited(first: Row | None, second: Row | None) -> Row:
    why = oracle.suitable(first, second)
    return {"kind": "unsuited", "reason": why} if why else {"kind": "original", "reason": ""}


def base(program: Program) -> Row:
    return {"name": program.name, "program": program.name, "origin": program.origin, "tools": {}}


def described(case: Case) -> Row:
    operator = OPERATORS[case.operator]
    return base(case.program) | {
        "name": case.name,
        "operator": case.operator,
        "family": operator.family,
        "codes": list(operator.codes),
        "half": case.half,
        "file": case.file,
        "lines": list(case.lines),
        "diff": case.diff,
        "tools": {},
    }


def classified(record: Row | None, mutant: Path, guard: bool) -> Row:
    if record is None:
        return {"kind": "invalid", "reason": "the original did not end this time"}
    limit = max(20.0, 10 * record["seconds"])
    verdict = oracle.classify(record, oracle.run(mutant, (), limit), guard)
    return {"kind": verdict.kind, "reason": verdict.reason}


def ask(row: Row, tools: Iterable[Tool], program: Path, original: Path) -> bool:
    """Lets those tools look that have not yet; whether one did."""
    asked = False
    for tool in tools:
        if tool.name not in row["tools"]:
            said = tool.run(program, original)
            if said is not None:
                row["tools"][tool.name] = entry(said)
                asked = True
    return asked


def entry(said: Said) -> Row:
    return {
        "findings": [score.plain(f) for f in said.findings],
        "seconds": round(said.seconds, 3),
        "fault": said.fault,
    }


def judge(row: Row, original: Row) -> None:
    """Adds the outcome of each tool to a mutant's row."""
    for name, said in row["tools"].items():
        before = [score.restored(f) for f in original["tools"].get(name, {}).get("findings", [])]
        found: list[Finding] = score.new((score.restored(f) for f in said["findings"]), before)
        if row["kind"] == "real":
            said["outcome"] = score.outcome(found, row["file"], row["lines"], row["codes"])
        else:
            alarms = score.false_alarms(found, row["file"], row["lines"], row["codes"], row["kind"])
            said["alarms"] = [score.plain(f) for f in alarms]


def judge_all(rows: list[Row]) -> None:
    """Anew from the findings, so that what is right may be stated better without running anything again."""
    originals = {row["program"]: row for row in rows if row["kind"] == "original"}
    for row in rows:
        if "operator" in row and row["program"] in originals:
            row["codes"] = list(OPERATORS[row["operator"]].codes)
            judge(row, originals[row["program"]])


def forget(rows: list[Row], tools: set[str]) -> None:
    """What these tools said: they have changed since."""
    for row in rows:
        for name in tools & set(row["tools"]):
            del row["tools"][name]


def load(results: Path) -> list[Row]:
    """The last row of each name: a later run adds tools to what an earlier one wrote."""
    rows: dict[str, Row] = {}
    if results.exists():
        for line in results.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue  # the last line of a run that was broken off
            rows[row["name"]] = row
    return list(rows.values())
