"""Which parameters a finding speaks of: only their gradients may differ with its repair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gradsan.fix.lines import Moved
from gradsan.fix.trial import TrialRun
from gradsan.judge.report.findings import Finding, Location

# An optimizer takes what nobody took before; it may have had no name until now.
NEWLY_OWNED = ("GS205", "GS206")
# A target that follows: the losses that are made of it, and what they feed.
TARGETS = ("GS306", "GS307", "GS809")
# A clip, a loss scale: what is clipped together has one norm.
CLIPS = ("GS504", "GS505", "GS506", "GS507")
# A gradient is missing behind the named line, or goes on beyond it: whatever it is made of.
MADE_OF = ("GS201", "GS202", "GS203", "GS208", "GS209", "GS210", "GS305")
# The value of a loss is wrong: whatever is made of the named line, or meets it on the way to a loss.
VALUES = ("GS403", "GS503", "GS6", "GS8")
# A tensor was changed: whatever the named lines are made of, that which had saved it among them.
CHANGED = ("GS1",)
# Memory is freed, and no gradient is another.
NONE = ("GS406",)

By = Mapping[str, Sequence[str]]


def parameters(finding: Finding, before: TrialRun, after: TrialRun, moved: Moved) -> set[str]:
    """By their names."""
    if finding.rule in NONE:
        return set()
    runs = [(finding, before), (moved.finding(finding), after)]
    names = {name for found, run in runs for name in _speaks_of(found, run)}
    if finding.rule in NEWLY_OWNED:
        known = {name for step in before.steps for name in step.taken}
        names |= {name for step in after.steps for name in step.taken if name not in known}
    if not names or not _was_traced(finding, before):
        names.update(finding.subjects)  # of a rule about values: all that the loss trains
        names |= {name for found, run in runs for name in _at(found, run.lines)}
    if not names:  # the lines of the story lie elsewhere: what it concerns is all that is trained
        names = {name for _, run in runs for step in run.steps for name in step.taken}
    return names


def _speaks_of(finding: Finding, run: TrialRun) -> Iterator[str]:
    rule, concerned, subjects = finding.rule, run.concerned, finding.subjects
    culprit = [_line(finding.culprit)] if finding.culprit is not None else []
    if rule in TARGETS:
        for loss in concerned.losses:
            if not set(subjects).isdisjoint(loss.made_of):
                yield from loss.feeds
        return
    if rule.startswith(VALUES):
        yield from _of(concerned.meets, culprit)
        return
    yield from subjects
    if rule in CLIPS:
        yield from _clipped_together(finding, run)
    elif rule.startswith(CHANGED):
        yield from _at(finding, concerned.behind)
    elif rule in MADE_OF:
        yield from _of(concerned.behind, culprit)
    elif rule.startswith("GS3"):
        # Gradient that leaks into a head goes on into its trunk.
        yield from _of(concerned.before, subjects)


def _clipped_together(finding: Finding, run: TrialRun) -> set[str]:
    where = set(_lines(finding))
    names = {*finding.subjects, *(n for clip in run.clips if clip.line in where for n in clip.clipped)}
    for groups in ([step.taken for step in run.steps if step.line in where], [c.clipped for c in run.clips]):
        names |= {name for group in groups if not names.isdisjoint(group) for name in group}
    return names


def _was_traced(finding: Finding, run: TrialRun) -> bool:
    """Where no graph was seen, as in light mode, the lines that feed and step are all there is to go by."""
    by_graph = finding.rule.startswith((*MADE_OF, *VALUES, *CHANGED, *TARGETS))
    return not by_graph or bool(run.concerned.losses)


def _at(finding: Finding, by_line: By) -> Iterator[str]:
    return _of(by_line, _lines(finding))


def _of(found: By, keys: Sequence[str]) -> Iterator[str]:
    return (name for key in keys for name in found.get(key, ()))


def _lines(finding: Finding) -> list[str]:
    where = [site.location for site in finding.sites]
    return [_line(location) for location in (*where, finding.culprit) if location is not None]


def _line(location: Location) -> str:
    return f"{location.file}:{location.line}"
