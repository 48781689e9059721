"""Which mutants there are, which half each belongs to, and a sample that no operator is missing from."""

from __future__ import annotations

import difflib
import functools
import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gradsan_benchmark.edits import Source
from gradsan_benchmark.operators import OPERATORS
from gradsan_benchmark.programs import Program

DEVELOPMENT, UNSEEN = "development", "unseen"


def half(program: str, operator: str) -> str:
    """Fixed for good: mends are made from the development half, the other is only counted."""
    first = hashlib.sha256(f"{program} × {operator}".encode()).digest()[0]
    return DEVELOPMENT if first % 2 == 0 else UNSEEN


@dataclass(frozen=True)
class Case:
    program: Program
    operator: str
    file: str
    number: int
    text: str
    lines: tuple[int, ...]
    diff: str

    @property
    def name(self) -> str:
        return f"{self.program.name}:{self.file}:{self.operator}:{self.number}"

    @property
    def half(self) -> str:
        return half(self.program.name, self.operator)


@functools.lru_cache(maxsize=8)
def read(path: Path) -> tuple[str, Source]:
    text = path.read_text(encoding="utf-8")
    return text, Source(text)


def cases(program: Program, operator: str, sites: int, seed: int) -> list[Case]:
    """At most `sites` mutants of one program by one operator, drawn by the seed."""
    places = []
    for file in program.files:
        found = OPERATORS[operator].places(read(program.folder / file)[1])
        places += [(file, number, change) for number, change in enumerate(found)]
    random.Random(f"{seed}:{program.name}:{operator}").shuffle(places)
    made: list[Case] = []
    for file, number, change in places:
        before, source = read(program.folder / file)
        text = source.apply(change) if len(made) < sites else None
        if text is not None:
            where = tuple(sorted(set(change.lines)))
            made.append(Case(program, operator, file, number, text, where, difference(before, text)))
    return made


def difference(before: str, after: str) -> str:
    old, new = before.splitlines(), after.splitlines()
    lines = list(difflib.unified_diff(old, new, lineterm="", n=0))[2:]
    return "\n".join(lines)


def every_case(programs: Iterable[Program], sites: int, seed: int) -> list[Case]:
    names = [name for name, operator in OPERATORS.items() if not operator.excluded]
    return [case for program in programs for name in names for case in cases(program, name, sites, seed)]


def some_programs(programs: list[Program], size: int, seed: int) -> list[Program]:
    """`size` programs, in turns from each origin: a run that is broken off has had some of each."""
    size = min(size, len(programs))
    by_origin: dict[str, list[Program]] = defaultdict(list)
    for program in programs:
        by_origin[program.origin].append(program)
    for name, mine in by_origin.items():
        random.Random(f"{seed}:{name}").shuffle(mine)
    chosen: list[Program] = []
    while len(chosen) < size:
        for mine in by_origin.values():
            if mine and len(chosen) < size:
                chosen.append(mine.pop())
    return chosen


def sample(found: list[Case], size: int, seed: int) -> list[Case]:
    """`size` cases, in turns from each operator."""
    if size >= len(found):
        return found
    by_operator: dict[str, list[Case]] = defaultdict(list)
    for case in found:
        by_operator[case.operator].append(case)
    for name, mine in by_operator.items():
        random.Random(f"{seed}:{name}").shuffle(mine)
    chosen: list[Case] = []
    while len(chosen) < size:
        for mine in by_operator.values():
            if mine and len(chosen) < size:
                chosen.append(mine.pop())
    return chosen
