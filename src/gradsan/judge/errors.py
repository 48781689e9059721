"""Errors of PyTorch's autograd that no rule has made a finding of: what they mean, and the line to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from gradsan.judge.lines.source import stored_at
from gradsan.judge.report.findings import Finding, Location
from gradsan.judge.report.wording import line, location
from gradsan.record.events import NOWHERE
from gradsan.record.torch_errors import TorchError, row_called

if TYPE_CHECKING:
    from gradsan.judge.history import History
    from gradsan.record.events import Failed, Site

SHOWN = 300  # characters of PyTorch's message
UNUSED = "Parameter indices which did not receive grad for rank "


class RuleTexts(NamedTuple):
    """Of a rule that the error is a case of, where it has said nothing."""

    what: str
    fix: str


def errors_explained(
    history: History, findings: list[Finding], rules: Mapping[str, RuleTexts]
) -> list[dict[str, Any]]:
    """One entry per line and kind of error."""
    told: dict[tuple[str, int], dict[str, Any]] = {}
    for event in history.errors:
        row = row_called(event.kind)
        if row is not None and not _has_finding(row, location(history, event.site), findings):
            told[event.kind, event.site] = _entry(history, event, row, rules)
    return list(told.values())


def _has_finding(row: TorchError, where: Location | None, findings: list[Finding]) -> bool:
    return any(
        where in (finding.culprit, *(site.location for site in finding.sites))
        for finding in findings
        if finding.rule in row.rules
    )


def _entry(
    history: History, event: Failed, row: TorchError, rules: Mapping[str, RuleTexts]
) -> dict[str, Any]:
    message = event.message.split("\n", 1)[0]
    rule = rules.get(row.rules[0], RuleTexts("", "")) if row.rules else RuleTexts("", "")
    where, raised = (location(history, site) for site in (event.origin or event.site, event.site))
    made, stored = (location(history, site) for site in _way(history, event))
    return {
        "kind": row.kind,
        "message": message if len(message) <= SHOWN else message[: SHOWN - 1] + "…",
        "why": (row.why or rule.what) + _unused(event.message) + _raised(history, event),
        "fix": row.fix or rule.fix,
        "where": None if where is None else asdict(where),
        "raised": None if raised is None else asdict(raised),
        "made": None if made is None else asdict(made),
        "stored": None if stored is None else asdict(stored),
    }


def _way(history: History, event: Failed) -> tuple[Site, Site]:
    """Where the tensor was computed, and where it was put away until it was asked for; NOWHERE if not known."""
    made = op.site if event.value and (op := history.graph.get(event.value)) is not None else NOWHERE
    seen = history.sites.get(made)
    if seen is None or made == event.site:
        return NOWHERE, NOWHERE
    at = stored_at(seen.file, seen.line)
    return made, history.site_at(seen.file, at, seen.function) if at else NOWHERE


def _raised(history: History, event: Failed) -> str:
    elsewhere = event.origin and event.origin != event.site
    return f"; PyTorch notices on {line(history, event.site)}" if elsewhere else ""


def _unused(message: str) -> str:
    """What only the message of a wrapped network knows."""
    numbers = message.partition(UNUSED)[2].split("\n", 1)[0].strip()
    return f" (numbers of the parameters without gradient on rank {numbers})" if numbers else ""
