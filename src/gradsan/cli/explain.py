"""`gradsan explain`: what a rule means, from the rule's own text."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from gradsan.cli import options
from gradsan.fix.examples import example
from gradsan.judge.report.selection import suggestion
from gradsan.render.page import Page
from gradsan.rules import catalogue, find
from gradsan.rules.base import Rule


@click.command()
@click.argument("rule", required=False, metavar="[CODE | NAME]")
@click.option("--list", "list_", is_flag=True, help="Show all rules, one line each.")
@click.option("--format", "format_", type=click.Choice(["text", "json", "markdown"]), default="text",
              show_default=True, help="How it is written.")  # fmt: skip
def command(rule: str | None, list_: bool, format_: str) -> None:
    """Explain a rule: what it means, why it matters, and how to mend it."""
    from gradsan.render import explanation

    if list_:
        chosen = list(catalogue().values())
    elif rule is None:
        options.stop("give the code or the name of a rule, or --list")
    elif (found := find(rule)) is None:
        options.stop(f"there is no rule {rule!r}{suggestion(rule)}")
    else:
        chosen = [found]
    if format_ == "json":
        text = _json(chosen, list_)
    elif format_ == "markdown":
        text = explanation.markdown_list(chosen) if list_ else explanation.markdown(chosen[0])
    else:
        page = Page.of(sys.stdout)
        text = explanation.text_list(chosen, page) if list_ else explanation.text(chosen[0], page)
    click.echo(text, nl=False, color=True)


def _json(chosen: list[type[Rule]], as_list: bool) -> str:
    data: Any = [about(rule) for rule in chosen]
    return json.dumps(data if as_list else data[0], indent=2) + "\n"


def about(rule: type[Rule]) -> dict[str, Any]:
    return {
        "rule": rule.code,
        "name": rule.name,
        "severity": rule.severity,
        "what": rule.what,
        "why": rule.why,
        "symptom": rule.symptom,
        "fix": rule.fix,
        "deliberate": rule.deliberate,
        "bad": list(rule.bad),
        "good": list(rule.good),
        "repair": example(rule.code),
        "silence": f"# gradsan: allow {rule.name}",
    }
