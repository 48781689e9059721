"""What a trial run has shown about a repair: verified, with the evidence, or not, with the reason."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from gradsan.fix.clipping import only_shortened, turned_by_a_clip
from gradsan.fix.gradients import GradientComparison, compare
from gradsan.fix.lines import Key, Moved, key, keys
from gradsan.fix.speaks_of import parameters
from gradsan.fix.trial import TrialRun
from gradsan.judge.report.findings import Finding

# What they are about comes to bear after the first step: a repair that changes that one does something else.
LATER = ("GS305", "GS306", "GS307", "GS809")
# They are about the way of the gradient: a repair that changes what is computed forward is no repair of that.
FORWARD_STAYS = ("GS1", "GS2", "GS3", "GS4", "GS504", "GS505", "GS506", "GS507")
FORWARD_CHANGES = ("GS208", "GS403", "GS407")
# A gradient is missing, leaks, is stale or points elsewhere: a repair that changes none has not repaired that.
MUST_DIFFER = (
    "GS201", "GS202", "GS203", "GS205", "GS209", "GS301", "GS303", "GS304", "GS401", "GS405", "GS601", "GS603", "GS801",
    "GS802",
)  # fmt: skip
CLOSE = 1e-4


@dataclass(frozen=True)
class TrialVerdict:
    verified: bool
    because: str  # one sentence
    caused: tuple[Key, ...] = ()  # findings that came with it


class Control(Protocol):
    """Further runs without the repair. They are made only where something differs with it."""

    def findings(self) -> Iterable[Finding]:
        """Of a run that goes as far as the trial: a short run may have some that a long one has not."""

    def is_reproducible(self) -> bool:
        """Whether two runs of the same program take the same gradients."""


def judge(
    finding: Finding, before: TrialRun, after: TrialRun, moved: Moved, control: Control
) -> TrialVerdict:
    if reason := _ended_worse(before, after):
        return TrialVerdict(False, reason)
    if finding.rule in after.not_evaluated - before.not_evaluated:
        return TrialVerdict(False, f"with it, {finding.rule} could not be evaluated")
    expected, found = keys(moved.finding(f) for f in before.findings), keys(after.findings)
    mine = key(moved.finding(finding))
    if found[mine] >= max(1, expected[mine]):
        return TrialVerdict(False, f"with it, {finding.rule} is still reported")
    if not _computes_the_same(finding.rule, before, after):
        return TrialVerdict(False, f"with it, the first loss is {after.loss:.6g} and not {before.loss:.6g}")
    if new := found - expected:
        known = keys(moved.finding(f) for f in control.findings())
        if caused := [where for where in new if where not in known]:
            because = f"with it, {_named(caused[0])} is reported, which was not before"
            return TrialVerdict(False, because, tuple(caused))
    return _by_gradients(finding, before, after, moved, control)


def _by_gradients(
    finding: Finding, before: TrialRun, after: TrialRun, moved: Moved, control: Control
) -> TrialVerdict:
    seen = compare(before.steps, after.steps)
    if seen.changed and not control.is_reproducible():
        return TrialVerdict(
            False, "two runs of the program without it differ already, so nothing can be compared"
        )
    may_differ = parameters(finding, before, after, moved)
    unnamed = [name for name in seen.changed if name not in may_differ]
    rightly = set(seen.changed) - {*unnamed}
    resized = [name for name in unnamed if only_shortened(name, seen, rightly, before, after)]
    others = [name for name in unnamed if name not in resized]
    if turned := turned_by_a_clip(finding, seen, before):
        because = f"with it, the gradient of `{turned}` has another direction, and not only another length"
        return TrialVerdict(False, because)
    later = finding.rule in LATER or any(site.role == "kept" for site in finding.sites)
    if later and seen.update == 1:
        others = list(seen.changed)
    if others:
        because = f"with it, the gradient of `{others[0]}` differs, which {finding.rule} does not speak of"
        return TrialVerdict(False, because)
    if finding.rule in MUST_DIFFER and seen.compared and not seen.changed and not before.error:
        because = f"with it, the gradients of {_count(seen.compared, 'step')} are what they were, bit for bit"
        return TrialVerdict(False, because)
    return TrialVerdict(True, _evidence(finding, before, after, seen, resized))


def _ended_worse(before: TrialRun, after: TrialRun) -> str:
    if after.failure:
        return f"the program with it: {after.failure}"
    if after.unwatched:
        return f"the program with it could not be watched: {after.unwatched}"
    if after.bounded:
        return ""
    crashed = bool(before.error) or before.status != 0
    if after.status == 0 and not after.error:
        return "" if crashed or after.updates > 0 or before.updates == 0 else "with it, nothing is trained"
    if not crashed:
        return f"with it, the program ends with {after.error or f'status {after.status}'}"
    same = (after.status, _kind(after.error)) == (before.status, _kind(before.error))
    if after.updates > before.updates or (same and after.updates == before.updates):
        return ""
    return f"with it, the program ends earlier, with {after.error or f'status {after.status}'}"


def _computes_the_same(rule: str, before: TrialRun, after: TrialRun) -> bool:
    if not rule.startswith(FORWARD_STAYS) or rule in FORWARD_CHANGES:
        return True
    known = all(loss and math.isfinite(loss) for loss in (before.loss, after.loss))
    return not known or math.isclose(before.loss, after.loss, rel_tol=CLOSE)


def _kind(error: str) -> str:
    return error.partition(":")[0]


def _evidence(
    finding: Finding, before: TrialRun, after: TrialRun, seen: GradientComparison, resized: list[str]
) -> str:
    further = bool(before.error) and not after.error
    parts = [f"the program no longer ends with {_kind(before.error)}"] if further else []
    parts.append(f"{finding.rule} is gone in {_count(after.updates, 'update')} and nothing new is reported")
    if seen.update:
        differ = _listed([name for name in seen.changed if name not in resized])
        parts.append(
            f"of the gradients that are applied, those of {differ} differ, first at step {seen.update}"
        )
        if resized:
            parts.append(f"those of {_listed(resized)}, which are clipped together with them, only in length")
    elif seen.compared:
        parts.append(f"the gradients of {_count(seen.compared, 'step')} are the same, bit for bit")
    return "; ".join(parts) + "."


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:3]) + (
        f" and {len(names) - 3} more" if len(names) > 3 else ""
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _named(where: tuple[str, str, int]) -> str:
    rule, file, line = where
    return f"{rule} at {file}:{line}" if file else rule
