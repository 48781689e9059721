"""The ranks of one job, compared after the fact by the rules that do so."""

from __future__ import annotations

import traceback
from dataclasses import replace
from typing import NamedTuple

from gradsan.judge.drift import AVERAGING
from gradsan.judge.engine import Engine
from gradsan.judge.report.findings import Finding, Process
from gradsan.rules import catalogue
from gradsan.rules.base import Across, Rule

Rank = tuple[Process, Engine]


class Comparison(NamedTuple):
    """What only a comparison shows, and why some of it could not be made."""

    findings: list[Finding]
    not_compared: list[str]
    faults: list[dict[str, str]]


def compare(ranks: list[Rank], selected: list[type[Rule]]) -> Comparison:
    together, faults = _jobs(ranks), list[dict[str, str]]()
    if len(together) < 2:
        return Comparison([], [], [])
    rules = [rule for rule in catalogue().values() if rule.across_ranks]
    found = [(rule, one) for rule in rules for one in _judge(rule, together, faults)]
    explained = {(one.ranks[0], pid) for _, one in found for pid in one.verdict.explains}
    findings = list[Finding]()
    for rule, one in found:
        about = {(one.ranks[0], pid) for pid in one.verdict.unless_explained}
        if rule in selected and not (about and about <= explained):
            engine = together[one.ranks[0]][1]
            finding = engine.of_ranks(engine.rule(rule.code), one.verdict, one.iteration)
            if finding is not None:
                processes = tuple(together[index][0] for index in sorted(set(one.ranks)))
                findings.append(replace(finding, processes=processes))
    return Comparison(_distinct(findings), _not_comparable(together), faults)


def _jobs(ranks: list[Rank]) -> list[Rank]:
    """Those that have joined one group of several, in the order of their ranks."""
    joined = [(p, e) for p, e in ranks if e.history.ranks.group is not None and (p.world_size or 0) > 1]
    return sorted(joined, key=lambda rank: rank[0].rank or 0)


def _judge(rule: type[Rule], ranks: list[Rank], faults: list[dict[str, str]]) -> list[Across]:
    try:
        return list(rule.compare([engine.rule(rule.code) for _, engine in ranks]))
    except Exception:
        faults.append({"tap": f"{rule.__name__}.compare", "traceback": traceback.format_exc()})
        return []


def _distinct(findings: list[Finding]) -> list[Finding]:
    """One for each culprit of a rule, with all ranks that it was told about."""
    known: dict[object, Finding] = {}
    for finding in findings:
        key = (finding.rule, finding.culprit, finding.subjects)
        first = known.setdefault(key, finding)
        missing = [p for p in finding.processes if p not in first.processes]
        first.processes = (*first.processes, *missing)
    return list(known.values())


def _not_comparable(ranks: list[Rank]) -> list[str]:
    hooks = {w.hook for _, engine in ranks for w in engine.history.ranks.wrappers.values() if _is_own(w.hook)}
    return [f"what the ranks exchange is decided by a communication hook ({hook})" for hook in sorted(hooks)]


def _is_own(hook: str) -> bool:
    return bool(hook) and not hook.startswith(AVERAGING)
