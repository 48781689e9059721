"""The report as workflow commands: GitHub shows each finding as an annotation on its line."""

from __future__ import annotations

import os

from gradsan.judge.lines.source import real_path
from gradsan.judge.report.findings import Finding, Report
from gradsan.render.page import Page, plain
from gradsan.render.text import ROLES, ending, gone, summary

COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def render(report: Report, page: Page) -> str:
    lines = [_finding(finding) for finding in report.findings]
    reasons: dict[str, list[str]] = {}
    for entry in report.not_evaluated:
        reasons.setdefault(entry["reason"], []).append(entry["rule"])
    for reason, rules in reasons.items():
        title = {"title": "gradsan: not evaluated"}
        lines.append(command("notice", title, f"{', '.join(rules)}: {plain(reason)}"))
    for skipped in report.unreadable:
        place = {"file": plain(_in_workspace(skipped["file"])), "line": str(skipped["line"])}
        title = {"title": "gradsan: a file was skipped"}
        lines.append(command("warning", place | title, plain(skipped["message"])))
    for problem in report.suppression_problems:
        place = {"file": plain(_in_workspace(problem["file"])), "line": str(problem["line"])}
        title = {"title": "gradsan: a comment that does nothing"}
        lines.append(command("warning", place | title, plain(problem["message"])))
    lines += [command("notice", {"title": "gradsan: baseline"}, text) for text in gone(report)]
    for fault in report.faults:
        title = {"title": f"gradsan fault in {plain(fault['tap'])}"}
        lines.append(command("warning", title, _lines(fault["traceback"])))
    if not report.watched:
        title = {"title": "gradsan: nothing was watched"}
        lines.append(command("error", title, plain(report.not_watched)))
    last = [line.plain for line in (summary(report), ending(report)) if line is not None]
    # An ordinary line for the log; a word of the user's cannot begin it, so it is never a command.
    return "\n".join([*lines, *map(plain, last)]) + "\n"


def _finding(finding: Finding) -> str:
    properties = {}
    where = finding.culprit
    if where is not None and not where.file.startswith("<"):
        properties = {"file": plain(_in_workspace(where.file)), "line": str(where.line)}
    properties["title"] = f"{finding.rule} {finding.name}"
    story = [
        f"{ROLES.get(site.role, site.role)}: {site.location.place}  {site.location.code}"
        for site in finding.sites
    ]
    parts = [finding.message, *story, f"Fix: {finding.fix}", f"Why: gradsan explain {finding.rule}"]
    return command(COMMANDS[finding.severity], properties, "\n".join(plain(part) for part in parts))


def command(name: str, properties: dict[str, str], message: str) -> str:
    """One line, with everything escaped that could end it, its message or one of its properties."""
    given = ",".join(f"{key}={_escape(value, ':,')}" for key, value in properties.items())
    return f"::{name} {given}::{_escape(message)}"


def _escape(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:  # the percent sign first
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _lines(text: str) -> str:
    return "\n".join(plain(line) for line in text.splitlines())


def _in_workspace(file: str) -> str:
    """GitHub looks paths up from the root of the checkout, which need not be the working directory."""
    root = os.environ.get("GITHUB_WORKSPACE")
    if not root:
        return file
    relative = os.path.relpath(os.path.realpath(real_path(file)), os.path.realpath(root))
    return file if relative.startswith("..") else relative.replace(os.sep, "/")
