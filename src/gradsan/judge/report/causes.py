"""Findings that have one cause belong together: they are told as one story, and mended by one change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradsan.judge.report.findings import SEVERITIES, Finding, Location

# Where a finding shows, not what makes it: every finding about one update has these lines in its story.
OCCASIONS = {
    "backward", "own backward", "other backward", "loss", "step", "steps", "clip", "zero_grad", "optimizer", "caller",
    "other side",
}  # fmt: skip

# A story that ends here tells what came of it; one that ends before tells what to mend.
APPLIED = {"step", "steps"}

Place = tuple[str, int]


def by_cause(findings: Sequence[Finding]) -> list[list[int]]:
    """The numbers of findings with one cause, the most severe of them first, and of these the one about how the
    gradient came about before those about the step that applied it; in the order of the first of each."""
    groups: list[list[int]] = []
    for number, finding in enumerate(findings):
        joined = [g for g in groups if any(_one_cause(findings[other], finding) for other in g)]
        merged = [n for group in joined for n in group] + [number]
        groups = [g for g in groups if g not in joined] + [merged]
    ordered = (_worst_first(findings, group) for group in groups)
    return sorted(ordered, key=min)


def _worst_first(findings: Sequence[Finding], group: list[int]) -> list[int]:
    return sorted(group, key=lambda n: (-SEVERITIES.index(findings[n].severity), _is_applied(findings[n]), n))


def _is_applied(finding: Finding) -> bool:
    return any(site.role in APPLIED for site in finding.sites)


def _one_cause(one: Finding, other: Finding) -> bool:
    """The line to change is the same, or is one of those that the other story begins with; or one rule speaks twice
    of what one line made."""
    first, second = list(_making(one)), list(_making(other))
    if _culprit(one) in second or _culprit(other) in first:
        return True
    return one.rule == other.rule and bool(first and second) and first[0] == second[0]


def _making(finding: Finding) -> Iterator[Place]:
    occasions = {_place(site.location) for site in finding.sites if site.role in OCCASIONS}
    for site in finding.sites:
        if (place := _place(site.location)) not in occasions:
            yield place
    culprit = _culprit(finding)
    if culprit is not None and culprit not in occasions:
        yield culprit


def _culprit(finding: Finding) -> Place | None:
    return None if finding.culprit is None else _place(finding.culprit)


def _place(location: Location) -> Place:
    return location.file, location.line
