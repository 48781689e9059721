"""The loop: one finding after the other, each repair tried on top of those that were verified before it."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gradsan.fix.gradients import compare
from gradsan.fix.lines import LineMap, Moved, key, keys
from gradsan.fix.repair import Repair, repairs, text_of, together
from gradsan.fix.trial import TrialRun, Trials, finding_of
from gradsan.fix.verdict import TrialVerdict, judge
from gradsan.judge.lines.source import real_path
from gradsan.judge.report.findings import Finding

TIMES = 4  # as many updates as the finding needed, times this
FEWEST = 8  # verdicts wait until it is known who consumed what
MOST_TRIED = 6  # repairs of one finding


@dataclass(frozen=True)
class Outcome:
    """What became of a finding. `repair` is the verified one, else the first one that was tried."""

    finding: Finding
    repair: Repair | None = None
    verdict: TrialVerdict | None = None
    gone: bool = False  # with the repair of another one
    declined: bool = False  # verified, and not wanted
    caused: tuple[Finding, ...] = ()  # what was reported in the trial
    refused: int = 0  # repairs that were tried before this one

    @property
    def verified(self) -> bool:
        return self.verdict is not None and self.verdict.verified

    @property
    def left(self) -> bool:
        return self.declined or not (self.verified or self.gone)


@dataclass
class _State:
    """The program as repaired so far: its sources where they differ from the disk, and how it runs."""

    run: TrialRun
    sources: dict[str, bytes] = field(default_factory=dict)
    watched: int | None = None  # updates that its last run went through; None where that came to its end

    def has_seen(self, updates: int) -> bool:
        return self.watched is None or self.watched >= updates


@dataclass
class _Entry:
    """A finding on its way; `chosen` where it is to be mended."""

    finding: Finding
    needed: int
    chosen: bool
    outcome: Outcome | None = None
    told: bool = False

    @property
    def waits(self) -> bool:
        return self.chosen and self.outcome is None

    @property
    def could_be_tried_again(self) -> bool:
        outcome = self.outcome
        return outcome is not None and outcome.left and not outcome.declined and outcome.repair is not None


class Mending:
    """`codes`: rules whose findings are to be mended. `wanted`: the findings of a report, to mend only those."""

    def __init__(
        self,
        trials: Trials,
        updates: int | None = None,
        tell: Callable[[str], None] = lambda _: None,
        codes: Container[str] | None = None,
        wanted: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        self._trials = trials
        self._updates = updates
        self._tell = tell
        self._codes = codes
        self._wanted = None if wanted is None else [finding_of(data) for data in wanted]
        self._controls: dict[tuple[int | None, int], TrialRun] = {}
        self._reproducible: bool | None = None
        self._repaired = 0
        self._originals: dict[str, tuple[str, bytes]] = {}  # by real path: as shown, and the text on disk
        self._touched: dict[str, set[int]] = {}  # lines of the originals
        self._state = _State(TrialRun())
        self._accepts: Callable[[Outcome], bool] = lambda _: True

    def first(self) -> TrialRun:
        """The program as it is; where findings are known already, only as far as it takes to meet them again."""
        self._tell(f"running {self._trials.target.shown}")
        if self._wanted is None or self._updates is not None:
            return self._trials.run({}, self._updates)
        enough = TIMES * max((f.first_iteration for f in self._wanted), default=0) + FEWEST
        run = self._trials.run({}, enough)
        if run.bounded and self._not_met(run):
            run = self._trials.run({}, None)
        for finding in self._not_met(run):
            self._tell(
                f"{finding.rule} at {finding.culprit.place if finding.culprit else '?'} is not met again"
            )
        return run

    def _not_met(self, run: TrialRun) -> list[Finding]:
        met = keys(run.findings)
        return [finding for finding in self._wanted or [] if not met[key(finding)]]

    def mend(self, run: TrialRun, accepts: Callable[[Outcome], bool] = lambda _: True) -> Iterator[Outcome]:
        """`accepts` is asked about each verified repair; the next one is tried on top of it only where it agrees."""
        self._state, self._accepts = _State(run), accepts
        entries = [_Entry(f, n, self._is_chosen(f)) for f, n in zip(run.findings, run.needed, strict=True)]
        while any(entry.waits for entry in entries):
            before = self._repaired
            for entry in entries:
                if entry.waits:
                    self._take(entry, entries)
            for entry in entries:
                if self._repaired > before and entry.could_be_tried_again:
                    entry.outcome = None  # a repair further down may be what this one was waiting for
                elif entry.outcome is not None and not entry.told:
                    entry.told = True
                    yield entry.outcome

    def changed(self) -> Iterator[tuple[str, bytes, bytes, set[int]]]:
        """Every file that the accepted repairs change: as it is shown, before, after, the lines touched before."""
        for path, (shown, before) in self._originals.items():
            yield shown, before, self._state.sources[path], self._touched[path]

    def _is_chosen(self, finding: Finding) -> bool:
        if self._codes is not None and finding.rule not in self._codes:
            return False
        return self._wanted is None or bool(keys(self._wanted)[key(finding)])

    def _take(self, entry: _Entry, entries: list[_Entry]) -> None:
        finding = entry.finding
        if self._is_gone(entry):
            entry.outcome = Outcome(finding, gone=True)
            return
        state = self._state
        left = [e.finding for e in entries if e is not entry and (e.outcome is None or e.outcome.left)]
        before = replace(state.run, findings=(finding, *left))
        waiting, tried = self._repairs(finding)[:MOST_TRIED], 0
        while waiting:
            repair = waiting.pop(0)
            outcome, moved = self._try(entry, repair, before, tried)
            tried += 1
            waiting = [*self._completed(entry, outcome), *waiting]
            if outcome.verified and not outcome.declined:
                for other in entries:
                    other.finding = moved.finding(other.finding)
            if entry.outcome is None or outcome.verified:
                entry.outcome = outcome
            if outcome.verified:
                return
        entry.outcome = entry.outcome or Outcome(finding)

    def _is_gone(self, entry: _Entry) -> bool:
        """With the repairs so far; where they were not tried for long enough to tell, they are now."""
        state = self._state
        if not state.sources:
            return False
        if not state.has_seen(entry.needed):
            run = self._trials.run(state.sources, self._bound(entry.needed))
            if run.failure:
                return False
            self._state = state = _State(_further(state.run, run), state.sources, _watched(run))
        return not keys(state.run.findings)[key(entry.finding)] and state.has_seen(entry.needed)

    def _try(self, entry: _Entry, repair: Repair, before: TrialRun, refused: int) -> tuple[Outcome, Moved]:
        where = entry.finding.culprit
        assert where is not None
        which = f"another repair of {entry.finding.rule}" if refused else f"a repair of {entry.finding.rule}"
        self._tell(f"trying {which} at {where.place}: {repair.what}")
        path = os.path.realpath(real_path(repair.file))
        sources = {**self._state.sources, path: repair.after}
        updates = self._bound(entry.needed)
        run = self._trials.run(sources, updates)
        moved = Moved({real_path(repair.file): LineMap(repair.before, repair.after)})
        verdict = judge(entry.finding, before, run, moved, _Control(self, updates))
        outcome = Outcome(entry.finding, repair, verdict, caused=run.findings, refused=refused)
        if verdict.verified and not self._accepts(outcome):
            outcome = replace(outcome, declined=True)
        elif verdict.verified:
            self._repaired += 1
            _, original = self._originals.setdefault(path, (repair.file, repair.before))
            back = LineMap(repair.before, original)
            self._touched.setdefault(path, set()).update(back[line] for line in repair.touched)
            self._state = _State(_further(self._state.run, run), sources, _watched(run))
        return outcome, moved

    def _completed(self, entry: _Entry, outcome: Outcome) -> Iterator[Repair]:
        """A repair that leaves something useless behind (a graph that is retained for nobody), with that mended."""
        first = outcome.repair
        if first is None or outcome.verdict is None or ", and " in first.what:
            return
        for found in outcome.caused:
            if key(found) in outcome.verdict.caused and found.severity != "error":
                for second in repairs(found, first.after, self._trials.target.include)[:1]:
                    if (both := together(entry.finding, first, second)) is not None:
                        yield both

    def _repairs(self, finding: Finding) -> list[Repair]:
        if finding.culprit is None:
            return []
        path = os.path.realpath(real_path(finding.culprit.file))
        data = self._state.sources.get(path) or text_of(finding.culprit.file)
        return repairs(finding, data, self._trials.target.include)

    def _bound(self, needed: int) -> int:
        return self._updates or max(FEWEST, TIMES * needed)

    def unrepaired(self, updates: int | None) -> TrialRun:
        """One more run of the program as it is repaired so far, once for each length."""
        at = (updates, self._repaired)
        if at not in self._controls:
            self._controls[at] = self._trials.run(self._state.sources, updates)
        return self._controls[at]

    def is_reproducible(self, updates: int | None) -> bool:
        """Asked once: a repair does not change where a program takes its random numbers from."""
        if self._reproducible is None:
            self._reproducible = not compare(self._state.run.steps, self.unrepaired(updates).steps).changed
        return self._reproducible


@dataclass(frozen=True)
class _Control:
    mending: Mending
    updates: int | None

    def findings(self) -> tuple[Finding, ...]:
        return self.mending.unrepaired(self.updates).findings

    def is_reproducible(self) -> bool:
        return self.mending.is_reproducible(self.updates)


def _watched(run: TrialRun) -> int | None:
    return run.updates if run.bounded else None


def _further(before: TrialRun, after: TrialRun) -> TrialRun:
    """The repaired program is the one to compare with from now on; where it was ended early, what is known of the
    end is what was known before."""
    if not after.bounded or before.bounded or after.updates > before.updates:
        return after
    return replace(
        after, ending=before.ending, status=before.status, error=before.error, updates=before.updates
    )
