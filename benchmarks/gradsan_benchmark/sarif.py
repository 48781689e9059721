"""Findings as tools hand them in: SARIF 2.1.0."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlparse


class Finding(NamedTuple):
    rule: str
    file: str
    line: int
    level: str = "warning"
    sites: tuple[tuple[str, int], ...] = ()
    """Other places that the finding names: (file, line)."""


def read(text: str, folder: Path) -> list[Finding]:
    """The findings of a log; files are made relative to `folder`. Raises ValueError for what is no SARIF."""
    log = json.loads(text)
    if not isinstance(log, dict) or not isinstance(log.get("runs"), list):
        raise ValueError("this is no SARIF log: it has no `runs`")
    return [_finding(result, folder) for run in log["runs"] for result in run.get("results") or []]


def _finding(result: dict[str, Any], folder: Path) -> Finding:
    rule = result.get("ruleId") or (result.get("rule") or {}).get("id") or ""
    places = [_place(location, folder) for location in result.get("locations") or []]
    file, line = places[0] if places else ("", 0)
    others = [*places[1:], *(_place(location, folder) for location in _related(result))]
    return Finding(rule, file, line, result.get("level", "warning"), tuple(dict.fromkeys(others)))


def _related(result: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from result.get("relatedLocations") or []
    for flow in result.get("codeFlows") or []:
        for thread in flow.get("threadFlows") or []:
            for step in thread.get("locations") or []:
                yield step.get("location") or {}


def _place(location: dict[str, Any], folder: Path) -> tuple[str, int]:
    physical = location.get("physicalLocation") or {}
    uri = (physical.get("artifactLocation") or {}).get("uri", "")
    line = (physical.get("region") or {}).get("startLine", 0)
    return relative(unquote(urlparse(uri).path), folder), line


def relative(file: str, folder: Path) -> str:
    """The file as seen from the folder, where it lies in there."""
    path = Path(file)
    if path.is_absolute():
        for root in (folder, folder.resolve()):
            if path.is_relative_to(root):
                return path.relative_to(root).as_posix()
    return path.as_posix()


def write(findings: list[Finding], tool: str) -> str:
    """A log with these findings: what our own adapters of other tools hand in."""
    results = [
        {
            "ruleId": finding.rule,
            "level": finding.level,
            "message": {"text": finding.rule},
            "locations": [_location(finding.file, finding.line)],
            "relatedLocations": [_location(*site) for site in finding.sites],
        }
        for finding in findings
    ]
    driver = {"name": tool, "rules": []}
    return json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]})


def _location(file: str, line: int) -> dict[str, Any]:
    region = {"startLine": max(line, 1)}
    return {"physicalLocation": {"artifactLocation": {"uri": file}, "region": region}}
