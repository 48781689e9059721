"""Feeds events to the history and to the rules, and turns verdicts into findings, once per culprit."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from typing import Any

from gradsan.judge.findings import SEVERITIES, Finding, Location, Report, RoleSite
from gradsan.judge.history import History
from gradsan.judge.source import allowed, line_of, shown_path
from gradsan.judge.wording import describe_params
from gradsan.picture.collector import PictureCollector
from gradsan.picture.model import Picture
from gradsan.record.events import (
    Backward,
    Clip,
    Event,
    Failed,
    Fault,
    Ops,
    OptimizerSeen,
    Repeated,
    Sample,
    Site,
    Step,
    StepDone,
    Sync,
    Turn,
    ZeroGrad,
)
from gradsan.rules import catalogue
from gradsan.rules.base import Rule, Verdict

BEFORE = {Step: "on_step", ZeroGrad: "on_zero_grad"}
AFTER = {
    OptimizerSeen: "on_optimizer",
    Backward: "on_backward",
    Clip: "on_clip",
    Sync: "on_sync",
    Ops: "on_ops",
    Failed: "on_failed",
    Sample: "on_sample",
}
SETTLE_AFTER = 2  # iterations: by then every optimizer of a loop has had its turn


class Engine:
    """One per run or per re-judged trace."""

    def __init__(
        self,
        rules: Iterable[type[Rule]] | None = None,
        on_finding: Callable[[Finding], None] | None = None,
    ) -> None:
        self.history = History()
        self.rules = [rule(self.history) for rule in (catalogue().values() if rules is None else rules)]
        self.picture_collector = PictureCollector(self.history, self.location)
        self.findings: dict[Any, Finding] = {}
        self.listeners = [on_finding] if on_finding is not None else []
        self._handlers = {
            kind: [h for r in self.rules if (h := _overridden(r, method))]
            for kind, method in (BEFORE | AFTER).items()
        }
        self._settlers = [h for r in self.rules if (h := _overridden(r, "on_settled"))]
        self._fired: set[Any] = set()  # in this iteration
        self._fired_before: set[Any] = set()  # in the one before
        self._broken: set[int] = set()
        self._quiet: set[str] = set()

    def feed(self, event: Event) -> None:
        kind = type(event)
        self._show(self.picture_collector.see, event)
        if isinstance(event, Sample) and event.for_charts:
            return
        if kind in BEFORE:
            if kind is Step:
                self.history.apply(event)
            self._ask(self._handlers[kind], event)
            if isinstance(event, Step):
                self.history.consume(event)
            else:
                self.history.apply(event)
            return
        if isinstance(event, Repeated):
            self._settle()
            self._leave_unsettled()
            for key in self._fired | self._fired_before:
                self.findings[key].count += event.times
        before = self.history.iteration
        self.history.apply(event)
        if kind in AFTER:
            self._ask(self._handlers[kind], event)
        if kind in (StepDone, Turn) and self.history.iteration != before:
            self._show(self.picture_collector.end_iteration)
            self._fired_before, self._fired = self._fired, set()
            self._settle()

    def finish(self) -> None:
        self._settle(everything=True)
        self._ask([h for r in self.rules if (h := _overridden(r, "at_end"))])

    def _settle(self, everything: bool = False) -> None:
        due = self.history.iteration - SETTLE_AFTER
        for contribution in list(self.history.ledger.recent.values()):
            if not contribution.settled and (everything or contribution.iteration <= due):
                contribution.settled = True
                self._ask(self._settlers, contribution)
                self._show(self.picture_collector.settled, contribution, len(self.findings))

    def _show(self, look: Callable[..., None], *args: Any) -> None:
        """A fault in drawing must not cost a finding."""
        if "picture" not in self._quiet:
            try:
                look(*args)
            except Exception:
                self._fault("picture")

    def _fault(self, part: str) -> None:
        self._quiet.add(part)
        self.history.apply(Fault(part, traceback.format_exc()))

    def _leave_unsettled(self) -> None:
        """The steps that would have consumed the newest gradients were counted, not recorded. Iterations
        like theirs have been judged to the end; about these nobody can tell any more."""
        for contribution in self.history.ledger.recent.values():
            contribution.settled = True

    def _ask(self, handlers: list[Callable[..., Iterable[Verdict]]], *args: Any) -> None:
        for handler in handlers:
            if id(handler) in self._broken:
                continue
            try:
                for verdict in handler(*args):
                    self._add(handler.__self__, verdict)  # type: ignore[attr-defined]
            except Exception:
                self._broken.add(id(handler))
                self.history.apply(Fault(handler.__qualname__, traceback.format_exc()))

    def _add(self, rule: Rule, verdict: Verdict) -> None:
        key = (rule.code, verdict.culprit, verdict.key)
        known = self.findings.get(key)
        self._fired.add(key)
        if known is not None:
            known.count += 1
            return
        if self._is_allowed(rule, verdict):
            self._fired.discard(key)
            return
        finding = self._finding(rule, verdict)
        self.findings[key] = finding
        for listener in list(self.listeners):
            listener(finding)

    def _finding(self, rule: Rule, verdict: Verdict) -> Finding:
        culprit = self.location(verdict.culprit)
        sites = [
            RoleSite(role, where) for role, s in verdict.sites if (where := self.location(s)) is not None
        ]
        subjects = describe_params(self.history, verdict.subjects, limit=50)
        severity = verdict.severity or rule.severity
        assert severity in SEVERITIES
        return Finding(
            rule.code, rule.name, severity, verdict.message, verdict.fix or rule.fix, culprit,
            tuple(dict.fromkeys(sites)), tuple(subjects), 1, self.history.iteration + 1,
        )  # fmt: skip

    def location(self, site: Site) -> Location | None:
        seen = self.history.sites.get(site)
        if seen is None:
            return None
        return Location(shown_path(seen.file), seen.line, seen.function, line_of(seen.file, seen.line))

    def _is_allowed(self, rule: Rule, verdict: Verdict) -> bool:
        for site in (verdict.culprit, *(s for _, s in verdict.sites)):
            seen = self.history.sites.get(site)
            if seen is not None and {rule.code, rule.name} & allowed(seen.file, seen.line):
                return True
        return False

    def report(self) -> Report:
        history = self.history
        findings = sorted(self.findings.values(), key=lambda f: -SEVERITIES.index(f.severity))
        return Report(
            iterations=history.iteration,
            deep_iterations=min(history.deep_iterations, history.iteration),
            attention=[{"iteration": i, "reason": r} for i, r in history.attention],
            findings=findings,
            not_evaluated=self._not_evaluated(),
            faults=[{"tap": f.tap, "traceback": f.traceback} for f in history.faults],
        )

    def picture(self, report: Report) -> Picture:
        """What the report can draw beside its findings; made only for those who want it."""
        try:
            return self.picture_collector.picture(report.findings)
        except Exception:
            report.faults.append({"tap": "picture", "traceback": traceback.format_exc()})
            return Picture()

    def _not_evaluated(self) -> list[dict[str, str]]:
        history = self.history
        deep = [r for r in self.rules if r.needs_deep]
        if history.iteration and not history.graph.ops:
            reason = "no iteration was traced deeply (use --mode deep or adaptive)"
            return [{"rule": r.code, "reason": reason} for r in deep]
        return [
            {"rule": r.code, "reason": reason}
            for reason, blind in history.blind.items()
            for r in deep
            if not blind.rules or r.code in blind.rules
        ]


def _overridden(rule: Rule, method: str) -> Callable[..., Iterable[Verdict]] | None:
    return getattr(rule, method) if getattr(type(rule), method) is not getattr(Rule, method) else None
