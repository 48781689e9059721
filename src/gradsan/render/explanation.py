"""A rule's own text, for the terminal and as Markdown."""

from __future__ import annotations

import textwrap

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gradsan.fix.examples import example
from gradsan.render.page import Page
from gradsan.rules.base import Rule

REPAIR = "What `gradsan fix` writes"


def sections(rule: type[Rule]) -> list[tuple[str, str, str]]:
    """Title, prose and code, in the order in which one wants to know them."""
    parts = [
        ("What it means", rule.what, ""),
        ("Why it matters", rule.why, ""),
        ("What the learning curve shows", rule.symptom, ""),
        ("Wrong", "", code_of(rule.bad)),
        ("Right", "", code_of(rule.good)),
        ("How to mend it", sentence(rule.fix), ""),
        (REPAIR, "", example(rule.code)),
        ("When it is deliberate", rule.deliberate, ""),
        ("How to silence it", silencing(rule), f"# gradsan: allow {rule.name}"),
    ]
    return [(title, flow(prose), code) for title, prose, code in parts if prose or code]


def code_of(examples: tuple[str, ...]) -> str:
    return textwrap.dedent(examples[0]).strip("\n") if examples else ""


def silencing(rule: type[Rule]) -> str:
    return (
        "With a comment on the line that the finding names, or on another line of its story. "
        f"`--ignore {rule.code}` leaves the rule out of a whole run."
    )


def sentence(words: str) -> str:
    """A fix is a part of a sentence in a finding, and a sentence of its own here."""
    return words[:1].upper() + words[1:] + "."


def flow(prose: str) -> str:
    """Paragraphs without the line ends of the source file."""
    paragraphs = textwrap.dedent(prose).strip().split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def text(rule: type[Rule], page: Page) -> str:
    console = page.console()
    console.print(Text.assemble((rule.severity, rule.severity), (f" {rule.code} {rule.name}", "culprit")))
    for title, prose, code in sections(rule):
        console.print()
        console.print(Text(title, "culprit"))
        if prose:
            console.print(Padding(Text(prose), (0, 0, 0, 2)))
        for line in code.split("\n") if code else ():
            _code(console, f"    {line}", page.terminal)
    return page.text_of(console)


def _code(console: Console, line: str, wrap: bool) -> None:
    """Wrapped between words on a terminal; whole, to be copied, in a pipe or a file."""
    if not wrap:
        console.print(Text(line), soft_wrap=True)
        return
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    for part in textwrap.wrap(
        line, console.width, subsequent_indent=indent, break_on_hyphens=False, replace_whitespace=False
    ) or [""]:
        console.print(Text(part), soft_wrap=True)


def text_list(rules: list[type[Rule]], page: Page) -> str:
    console = page.console()
    table = Table.grid(padding=(0, 2, 0, 0))
    for rule in rules:
        table.add_row(rule.code, Text(rule.severity, rule.severity), Text(rule.name, "culprit"))
    console.print(Padding(table, 0))  # a bare grid ends without a line end
    return page.text_of(console)


def markdown(rule: type[Rule]) -> str:
    lines = [f"# {rule.code} {rule.name}", "", f"Severity: {rule.severity}."]
    for title, prose, code in sections(rule):
        lines += ["", f"## {title}"]
        lines += ["", prose] if prose else []
        lines += ["", "```diff" if title == REPAIR else "```python", code, "```"] if code else []
    return "\n".join(lines) + "\n"


def markdown_list(rules: list[type[Rule]]) -> str:
    rows = [f"| {rule.code} | {rule.name} | {rule.severity} |" for rule in rules]
    return "\n".join(["| code | name | severity |", "|---|---|---|", *rows]) + "\n"
