"""The report as SARIF 2.1.0: what code-scanning services and editors read."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict
from difflib import SequenceMatcher
from typing import Any
from urllib.parse import quote

from gradsan import __version__
from gradsan.fix.shown import mend, standing
from gradsan.judge.report.findings import Finding, Location, Report
from gradsan.render import explanation
from gradsan.render.page import Page, plain
from gradsan.render.text import ROLES, gone
from gradsan.rules import catalogue
from gradsan.rules.base import Rule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {"error": "error", "warning": "warning", "info": "note"}
ROOT = "%SRCROOT%"

Json = dict[str, Any]


def render(report: Report, page: Page) -> str:
    """ASCII throughout, as in the JSON report."""
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(report)]}
    return json.dumps(log, indent=2) + "\n"


def _run(report: Report) -> Json:
    named = {f.rule for f in report.findings} | {entry["rule"] for entry in report.not_evaluated}
    rules = [rule for code, rule in catalogue().items() if code in named]
    index = {rule.code: number for number, rule in enumerate(rules)}
    refusals = list({told["kind"]: told for told in report.errors_explained}.values())
    index |= {told["kind"]: len(rules) + number for number, told in enumerate(refusals)}
    described = [*(_rule(rule) for rule in rules), *(_refusal(told) for told in refusals)]
    driver = {"name": "gradsan", "version": __version__, "rules": described}
    return {
        "tool": {"driver": driver},
        "originalUriBaseIds": {ROOT: {"description": _text("The working directory of the run.")}},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report, index)],
        "results": [_result(finding, index) for finding in report.findings]
        + [_refused(told, index) for told in report.errors_explained],
        "properties": {
            "script": plain(report.script),
            "torch": report.torch,
            "mode": report.mode,
            "iterations": report.iterations,
            "deepIterations": report.deep_iterations,
            "watched": report.watched,
            "scriptStatus": report.script_status,
            "processes": [asdict(process) for process in report.processes],
        },
    }


def _rule(rule: type[Rule]) -> Json:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": _text(rule.name.replace("-", " ").capitalize()),
        "fullDescription": _text(explanation.flow(rule.what)),
        "help": _text(_help(rule)) | {"markdown": explanation.markdown(rule)},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {"tags": ["gradient", "reinforcement-learning"], "precision": "high"},
    }


def _refusal(told: Json) -> Json:
    """An error of PyTorch's that no rule is about: its kind stands where a rule's code would."""
    what = str(told["kind"]).replace("-", " ").capitalize()
    return {"id": told["kind"], "shortDescription": _text(what), "defaultConfiguration": {"level": "error"}}


def _refused(told: Json, index: dict[str, int]) -> Json:
    """It ended the script, and is explained."""
    result: Json = {
        "ruleId": told["kind"],
        "ruleIndex": index[told["kind"]],
        "level": "error",
        "message": _text(f"{told['message']}\n\n{told['why']}\n\nFix: {told['fix']}"),
    }
    if told["where"]:
        result["locations"] = [_location(Location(**told["where"]))]
    ways = [(role, Location(**told[role])) for role in ("made", "stored", "raised") if told[role]]
    if ways:
        steps = [
            {"location": _location(where, ROLES.get(role, role)), "kinds": [role]} for role, where in ways
        ]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    return result


def _help(rule: type[Rule]) -> str:
    parts = ((title, "\n".join(p for p in part if p)) for title, *part in explanation.sections(rule))
    return "\n\n".join(f"{title}\n{body}" for title, body in parts)


def _result(finding: Finding, index: dict[str, int]) -> Json:
    where = finding.culprit
    result: Json = {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "level": LEVELS[finding.severity],
        "message": _text(f"{finding.message}\n\nFix: {finding.fix}"),
        "occurrenceCount": max(1, finding.count),
        "partialFingerprints": {"culpritLine/v1": _fingerprint(finding)},
        "properties": {
            "fix": plain(finding.fix),
            "subjects": [plain(name) for name in finding.subjects],
            "effect": None if finding.effect is None else finding.effect.as_dict(),
            "firstIteration": finding.first_iteration,
            "ranks": finding.ranks,
            "processes": [process.name for process in finding.processes],
        },
    }
    if where is not None:
        result["locations"] = [_location(where)]
    if where is not None and (mended := mend(finding)) is not None:
        changes = {"artifactLocation": _artifact(where.file), "replacements": replacements(*mended)}
        described = _text(f"{finding.fix} ({standing(finding)})")
        result["fixes"] = [{"description": described, "artifactChanges": [changes]}]
    if finding.sites:
        steps = [
            {"location": _location(s.location, ROLES.get(s.role, s.role)), "kinds": [plain(s.role)]}
            for s in finding.sites
        ]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    return result


def replacements(before: list[str], after: list[str]) -> list[Json]:
    """What to delete and what to put in its place, line by line."""
    found = []
    for kind, first, end, start, stop in SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        region = {"startLine": first + 1, "startColumn": 1, "endLine": end + 1, "endColumn": 1}
        change: Json = {"deletedRegion": region}
        if stop > start:
            change["insertedContent"] = {"text": "".join(line + "\n" for line in after[start:stop])}
        found.append(change)
    return found


def _location(where: Location, message: str = "") -> Json:
    region: Json = {"startLine": max(1, where.line)}
    if where.code:
        region["snippet"] = _text(where.code)
    location: Json = {"physicalLocation": {"artifactLocation": _artifact(where.file), "region": region}}
    if where.function:
        location["logicalLocations"] = [{"name": plain(where.function), "kind": "function"}]
    if message:
        location["message"] = _text(message)
    return location


def _artifact(file: str) -> Json:
    path = quote(os.fsencode(file.replace(os.sep, "/")))
    return {"uri": f"file://{path}"} if os.path.isabs(file) else {"uri": path, "uriBaseId": ROOT}


def _fingerprint(finding: Finding) -> str:
    """The same for the same mistake when lines are put in above it."""
    where = finding.culprit
    parts = [finding.rule, *([where.file, where.function, where.code] if where else [finding.message])]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


def _invocation(report: Report, index: dict[str, int]) -> Json:
    notes = [f"gradsan fault in {f['tap']}:\n{f['traceback']}" for f in report.faults]
    if not report.watched:
        notes.append(f"nothing was watched: {report.not_watched}")
    ended = (
        {"exitCode": report.exit.status, "exitCodeDescription": report.exit.because} if report.exit else {}
    )
    return {
        "executionSuccessful": not notes,
        **ended,
        "toolExecutionNotifications": [{"level": "error", "message": _text(note)} for note in notes]
        + [
            {
                "level": "warning",
                "message": _text(f"the file was skipped: {skipped['message']}"),
                "locations": [_location(Location(skipped["file"], skipped["line"], "", ""))],
            }
            for skipped in report.unreadable
        ],
        "toolConfigurationNotifications": [
            {
                "level": "warning",
                "message": _text(f"{entry['rule']} was not evaluated: {entry['reason']}"),
                "associatedRule": {"id": entry["rule"], "index": index[entry["rule"]]},
            }
            for entry in report.not_evaluated
        ]
        + [
            {
                "level": "warning",
                "message": _text(f"a comment does nothing: {problem['message']}"),
                "locations": [_location(Location(problem["file"], problem["line"], "", ""))],
            }
            for problem in report.suppression_problems
        ]
        + [{"level": "note", "message": _text(f"baseline {text}")} for text in gone(report)],
    }


def _text(text: str) -> Json:
    return {"text": "\n".join(plain(line) for line in text.split("\n"))}
