"""Feeds events to the history and to the rules, and turns verdicts into findings, once per culprit."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from typing import Any

from gradsan.judge.arbitration import arbitrate
from gradsan.judge.errors import RuleTexts, errors_explained
from gradsan.judge.history import SETTLE_AFTER, History
from gradsan.judge.lines.source import shown_path
from gradsan.judge.report import reasons
from gradsan.judge.report.counting import Counting
from gradsan.judge.report.findings import SEVERITIES, Finding, Report, RoleSite
from gradsan.judge.report.suppressions import Suppressions
from gradsan.judge.report.wording import describe_params, location
from gradsan.record.events import (
    Attention,
    Backward,
    Clip,
    Event,
    Failed,
    Fault,
    HeldGraphs,
    IterationEnd,
    Ops,
    OptimizerSeen,
    RankStep,
    Repeated,
    Sample,
    Scaling,
    Step,
    Sync,
    Unreduced,
    ZeroGrad,
)
from gradsan.rules import catalogue
from gradsan.rules.base import Rule, Verdict

HANDLERS = {
    Step: "on_step",
    ZeroGrad: "on_zero_grad",
    OptimizerSeen: "on_optimizer",
    Backward: "on_backward",
    Clip: "on_clip",
    Sync: "on_sync",
    HeldGraphs: "on_held",
    Ops: "on_ops",
    Failed: "on_failed",
    Sample: "on_sample",
    Scaling: "on_scaling",
    RankStep: "on_rank_step",
    Unreduced: "on_unreduced",
}

# Parts of ours without which everything is still seen and judged: other sinks, and what only words depend on.
BESIDE = {
    "TraceWriter", "PictureCollector", "LockSink", "Scalars", "Status", "names", "warnings", "charts", "operations",
}  # fmt: skip
ENOUGH = 16  # iterations: by then most rules would have had their say


class Engine:
    """One per run or per re-judged trace. All rules judge; those `selected` (all, if not given) are reported."""

    def __init__(
        self,
        selected: Iterable[type[Rule]] | None = None,
        on_finding: Callable[[Finding], None] | None = None,
        rules: Iterable[type[Rule]] | None = None,
        most_subjects: int = 50,  # that a finding names
    ) -> None:
        self.history = History()
        self._most_subjects = most_subjects
        self.rules = [rule(self.history) for rule in (catalogue().values() if rules is None else rules)]
        self._selected = {rule.code for rule in (self.rules if selected is None else selected)}
        self.findings: dict[Any, Finding] = {}
        self.suppressions = Suppressions()
        self.listeners = [on_finding] if on_finding is not None else []
        self._handlers = {
            kind: [h for r in self.rules if (h := _overridden(r, method))]
            for kind, method in HANDLERS.items()
        }
        self._settlers = [h for r in self.rules if (h := _overridden(r, "on_settled"))]
        self.counting = Counting()
        self._judging: int | None = None  # the iteration a verdict is about, where that is an earlier one
        self._last: type | None = None  # kind of event
        self._broken: set[int] = set()
        self._faulty: set[str] = set()
        self._lost = False

    def feed(self, event: Event) -> None:
        """A fault here would take the judge off the run: it is kept to the event that brought it about."""
        try:
            self._feed(event)
            if isinstance(event, Fault) and not event.installing and event.tap not in BESIDE:
                self.lose_track()
        except Exception:
            self._fault(f"judging {type(event).__name__}")
            self.lose_track()

    def lose_track(self) -> None:
        """Events are missing, or the history is not what happened: what would be found from here on is a guess."""
        self._lost = True

    def _feed(self, event: Event) -> None:
        history, handlers = self.history, self._handlers.get(type(event), [])
        previous, self._last = self._last, type(event)
        if isinstance(event, Step):
            history.apply(event)
            self._ask(handlers, event)
            history.consume(event)
            return
        if isinstance(event, ZeroGrad):
            self._ask(handlers, event)
            history.apply(event)
            return
        if isinstance(event, Repeated):
            self._settle()
            history.leave_unsettled()
            self.counting.repeated(event.times)
        history.apply(event)
        self._ask(handlers, event)
        if isinstance(event, IterationEnd):
            self.counting.ended(history.iteration - 1)
            self._settle()
            self.counting.judged(self.history.iteration - SETTLE_AFTER)
        elif isinstance(event, Attention):
            self.counting.attention(event.deep, from_start=previous in (None, IterationEnd))

    def finish(self) -> None:
        try:
            self._settle(everything=True)
            self._judging = max(0, self.history.iteration - 1)
            self._ask([h for r in self.rules if (h := _overridden(r, "at_end"))])
            self.counting.finish()
        except Exception:
            self._fault("judging the end")

    def _settle(self, everything: bool = False) -> None:
        for contribution in self.history.settle(everything):
            contribution.cuts = self.history.cuts.of(contribution)
            self._judging = contribution.iteration
            self._ask(self._settlers, contribution)
            self._judging = None

    def _fault(self, part: str) -> None:
        if part in self._faulty:  # once is enough to know
            return
        self._faulty.add(part)
        self.history.faults.append(Fault(part, traceback.format_exc()))

    def _ask(self, handlers: list[Callable[..., Iterable[Verdict]]], *args: Any) -> None:
        verdicts: list[tuple[Rule, Verdict]] = []
        if self._lost:
            return
        for handler in handlers:
            if id(handler) in self._broken:
                continue
            rule: Rule = handler.__self__  # type: ignore[attr-defined]
            try:
                verdicts.extend((rule, verdict) for verdict in handler(*args))
            except Exception:
                self._broken.add(id(handler))
                self._fault(handler.__qualname__)
        for rule, verdict in arbitrate(verdicts, self.history.explained) if verdicts else ():
            if rule.code in self._selected:
                self._add(rule, verdict)

    def _add(self, rule: Rule, verdict: Verdict) -> None:
        key = (rule.code, verdict.culprit, verdict.key)
        iteration = self.history.iteration if self._judging is None else self._judging
        known = self.findings.get(key)
        if known is not None:
            known.count += 1
            if known.effect is not None and known.effect.not_measured and verdict.measure is not None:
                known.effect = verdict.measure()
            self.counting.met(key, known, iteration)
            return
        if key in self.suppressions.silenced:
            return
        finding = self._finding(rule, verdict, iteration)
        if self.suppressions.silence(key, finding):
            return
        self.findings[key] = finding
        self.counting.met(key, finding, iteration)
        for listener in list(self.listeners):
            listener(finding)

    def _finding(self, rule: Rule, verdict: Verdict, iteration: int) -> Finding:
        culprit = location(self.history, verdict.culprit)
        own = {
            site for role, site in verdict.sites if role != "caller"
        }  # called from its own line: by nobody
        sites = [
            RoleSite(role, where)
            for role, s in verdict.sites
            if (where := location(self.history, s)) is not None and (role != "caller" or s not in own)
        ]
        subjects = describe_params(self.history, verdict.subjects, self._most_subjects)
        severity = verdict.severity or rule.severity
        effect = verdict.measure() if verdict.measure is not None else None
        if effect is not None and effect.is_nothing:
            severity = "info"  # a way that no gradient takes
        assert severity in SEVERITIES
        return Finding(
            rule.code, rule.name, severity, verdict.message, verdict.fix or rule.fix, culprit,
            tuple(dict.fromkeys(sites)), tuple(subjects), 1, iteration + 1, effect=effect,
            across_ranks=tuple(verdict.across_ranks),
        )  # fmt: skip

    def add(self, code: str, verdict: Verdict) -> None:
        """What somebody who compares this run with something else has found, after the fact."""
        if code in self._selected and not self._lost:
            self._judging = max(0, self.history.iteration - 1)
            self._add(self.rule(code), verdict)

    def rule(self, code: str) -> Rule:
        return next(rule for rule in self.rules if rule.code == code)

    def of_ranks(self, rule: Rule, verdict: Verdict, iteration: int) -> Finding | None:
        """What a comparison with other ranks has shown; None where a comment silences it."""
        finding = self._finding(rule, verdict, iteration)
        key = (rule.code, verdict.culprit, verdict.key)
        return None if self.suppressions.silence(key, finding) else finding

    def report(self) -> Report:
        history = self.history
        findings = sorted(self.findings.values(), key=lambda f: -SEVERITIES.index(f.severity))
        texts = {r.code: RuleTexts(" ".join(r.what.split()).rstrip("."), r.fix) for r in self.rules}
        not_evaluated = self._not_evaluated()
        reached = {(shown_path(site.file), site.line) for site in history.sites.values()}
        evaluated = self._selected - {entry["rule"] for entry in not_evaluated}
        sure = history.iteration >= ENOUGH and not history.faults
        return Report(
            iterations=history.iteration,
            deep_iterations=min(history.deep_iterations, history.iteration),
            attention=[{"iteration": i, "reason": reasons.ATTENTION[r]} for i, r in history.attention],
            findings=findings,
            not_evaluated=not_evaluated,
            reached=frozenset((shown_path(s.file), s.function) for s in history.sites.values()),
            evaluated=frozenset(evaluated),
            suppressed=[silenced.as_dict() for silenced in self.suppressions.silenced.values()],
            suppression_problems=self.suppressions.problems(reached, evaluated if sure else set()),
            errors_explained=errors_explained(history, findings, texts),
            faults=[{"tap": f.tap, "traceback": f.traceback} for f in history.faults],
        )

    def _not_evaluated(self) -> list[dict[str, str]]:
        if self._lost:
            return [{"rule": code, "reason": reasons.LOST_TRACK} for code in sorted(self._selected)]
        deep = [r.code for r in self.rules if r.needs_deep and r.code in self._selected]
        if self.history.iteration and not self.history.graph.ops:
            return [{"rule": code, "reason": reasons.NO_DEEP_ITERATION} for code in deep]
        blind = [
            {"rule": code, "reason": reasons.BLIND[spot]}
            for spot in self.history.blind
            for code in deep
            if code in reasons.CONCERNS.get(spot, deep)
        ]
        own = [(r.code, r.could_not_look()) for r in self.rules if r.code in self._selected]
        return blind + [{"rule": code, "reason": reason} for code, reason in own if reason]


def _overridden(rule: Rule, method: str) -> Callable[..., Iterable[Verdict]] | None:
    return getattr(rule, method) if getattr(type(rule), method) is not getattr(Rule, method) else None
