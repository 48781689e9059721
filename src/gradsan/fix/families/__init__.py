"""Which repairs each rule has. One file per family; importing this loads LibCST."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gradsan.fix.families import clearing, clips, detaching
from gradsan.fix.families.base import Case, Proposal
from gradsan.fix.source import Source
from gradsan.judge.findings import Finding

Family = Callable[[Case], Iterator[Proposal]]

FAMILIES: dict[str, tuple[Family, ...]] = {
    "GS301": (detaching.value,),
    "GS303": (detaching.value,),
    "GS401": (clearing.before_backward,),
    "GS504": (clips.before_step,),
}


def proposals(finding: Finding, source: Source) -> Iterator[Proposal]:
    case = Case(finding, source)
    for family in FAMILIES.get(finding.rule, ()):
        yield from family(case)
