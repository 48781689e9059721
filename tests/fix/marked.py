"""A finding written into the source it is about: `#@ culprit, backward` at the end of a line names its roles."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from gradsan.fix.repair import Repair, repairs
from gradsan.judge.report.findings import Finding, Location, RoleSite

MARK = re.compile(r"\s*#@ (.*)$")


def plain(text: str) -> str:
    return "\n".join(MARK.sub("", line) for line in textwrap.dedent(text).strip("\n").split("\n")) + "\n"


def finding(rule: str, text: str, file: str = "train.py", subjects: tuple[str, ...] = ()) -> Finding:
    culprit, sites = None, []
    for number, line in enumerate(textwrap.dedent(text).strip("\n").split("\n"), 1):
        if mark := MARK.search(line):
            where = Location(file, number, "<module>", MARK.sub("", line).strip())
            for role in mark.group(1).split(", "):
                culprit = where if role == "culprit" else culprit
                sites.append(RoleSite(role, where))
    return Finding(rule, "a-rule", "error", "message", "fix", culprit, tuple(sites), subjects, 1, 1)


def repaired(rule: str, text: str, subjects: tuple[str, ...] = ()) -> list[Repair]:
    return repairs(finding(rule, text, subjects=subjects), plain(text).encode())


def changes(repair: Repair) -> str:
    """The lines that come and go, as a diff without context."""
    from gradsan.fix.patch import shown_lines

    lines = shown_lines(repair.before, repair.after, repair.touched, 0)
    return "\n".join(line for line in lines if not line.startswith("@@"))


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return path
