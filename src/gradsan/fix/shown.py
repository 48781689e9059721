"""The repair that a report shows beside a finding: the verified one, where repairs were tried, and else the first of
those that `gradsan fix` would try, which is said.

Nothing is run and nothing is written: the change is shown.
"""

from __future__ import annotations

from gradsan.fix.encoding import decoded, encoding_of
from gradsan.fix.patch import shown_lines
from gradsan.fix.repair import Repair, repairs
from gradsan.judge.report.findings import Finding

Lines = list[str]


def mend(finding: Finding) -> tuple[Lines, Lines] | None:
    """The source before and after, or None where there is no repair, or the file has changed since the run."""
    repair = _first(finding)
    return None if repair is None else (_lines(repair.before), _lines(repair.after))


def diff(finding: Finding) -> Lines:
    """The lines of a unified diff with one line of context, without its header; [] where there is none."""
    repair = _first(finding)
    return [] if repair is None else shown_lines(repair.before, repair.after, repair.touched)


def standing(finding: Finding) -> str:
    """What is known of that repair, in one sentence."""
    if not finding.tried:
        return "not tried yet: `gradsan fix` tries it before it is written"
    return f"verified: {finding.evidence}"


def _first(finding: Finding) -> Repair | None:
    if finding.tried:
        return finding.repair
    try:
        return next(iter(repairs(finding)), None)
    except Exception:  # a report without a repair is still a report
        return None


def _lines(data: bytes) -> Lines:
    return [line.removesuffix("\r") for line in decoded(data, encoding_of(data)).split("\n")]
