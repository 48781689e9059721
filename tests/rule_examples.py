"""All examples of a rule: those in its own file, which explanations show, and those of tests/more_examples."""

from __future__ import annotations

import importlib

from gradsan.rules.base import Rule


def bad(rule: type[Rule]) -> tuple[str, ...]:
    return rule.bad + _more(rule, "BAD")


def good(rule: type[Rule]) -> tuple[str, ...]:
    return rule.good + _more(rule, "GOOD")


def _more(rule: type[Rule], which: str) -> tuple[str, ...]:
    name = f"more_examples.{rule.code.lower()}"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in (name, "more_examples"):
            raise
        return ()
    found: tuple[str, ...] = getattr(module, which)
    return found
