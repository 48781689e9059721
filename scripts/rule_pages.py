"""Writes docs/rules from the rules' own texts: `python scripts/rule_pages.py` (part of `make docs`)."""

from __future__ import annotations

from pathlib import Path

from gradsan.render.explanation import flow, markdown
from gradsan.rules import catalogue
from gradsan.rules.base import Rule

FOLDER = Path(__file__).parent.parent / "docs" / "rules"
FAMILIES = {
    "1": "Mutation: a value that backward needs was changed",
    "2": "Missing: a gradient that should be there is not",
    "3": "Leak: a gradient flows where it must not",
    "4": "Order: right gradient, wrong moment",
    "5": "Magnitude: the gradient is there and is useless",
    "6": "Shape and form of the loss",
    "7": "Distributed",
    "8": "Meaning: the gradient is right, the loss is not",
    "9": "Change: the gradient flows otherwise than it did",
}
INTRODUCTION = """\
# Rules

<!-- Written by scripts/rule_pages.py from the rules' own texts; edit those. -->

Each finding names a rule. `gradsan explain CODE` shows the same text as the pages here, and
`gradsan explain --list` the same list.

*error*: the training is wrong or has failed. *warning*: it is probably wrong, or wrong in part.
*info*: wasteful, not wrong. A rule that could not look says *not evaluated* and why; it never
counts as clean.
"""


def file_of(rule: type[Rule]) -> str:
    return f"{rule.code}-{rule.name}.md"


def pages() -> dict[str, str]:
    """File name and content of every page."""
    rules = list(catalogue().values())
    written = {file_of(rule): markdown(rule) for rule in rules}
    return {"index.md": index(rules), **written}


def index(rules: list[type[Rule]]) -> str:
    lines = [INTRODUCTION]
    for digit, title in FAMILIES.items():
        family = [rule for rule in rules if rule.code[2] == digit]
        if family:
            lines += [
                f"## {digit}xx {title}\n",
                "| code | name | severity | what it means |",
                "|---|---|---|---|",
            ]
            lines += [*map(row, family), ""]
    return "\n".join(lines)


def row(rule: type[Rule]) -> str:
    what = flow(rule.what).replace("|", "\\|")
    return f"| [{rule.code}]({file_of(rule)}) | {rule.name} | {rule.severity} | {what} |"


def write(folder: Path = FOLDER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for stale in set(folder.glob("*.md")) - {folder / name for name in wanted}:
        stale.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
