"""Which rules to judge by: codes, names, or the first letters of codes (`GS4`)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from gradsan.rules import catalogue, find
from gradsan.rules.base import Rule


class UnknownRule(Exception):
    """The message is one sentence for the user."""


def select(chosen: Iterable[str], ignored: Iterable[str]) -> list[type[Rule]]:
    """The rules chosen (all, where none is named) without those ignored, in the catalogue's order."""
    wanted = codes(chosen) or set(catalogue())
    left = wanted - codes(ignored)
    if not left:
        raise UnknownRule("no rule is left to judge by: all that are selected are ignored, too")
    return [rule for code, rule in catalogue().items() if code in left]


def codes(texts: Iterable[str]) -> set[str]:
    return {code for text in texts for word in _words(text) for code in matching(word)}


def _words(text: str) -> list[str]:
    """An empty text is a shell variable that was never set: not a wish for all rules."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise UnknownRule(f"{text!r} names no rule (`gradsan explain --list` shows all of them)")
    return words


def matching(word: str) -> list[str]:
    rule = find(word)
    if rule is not None:
        return [rule.code]
    prefixed = [code for code in catalogue() if code.startswith(word.upper())]
    if re.fullmatch(r"GS\d*", word.upper()) and prefixed:
        return prefixed
    raise UnknownRule(f"there is no rule {word!r}{suggestion(word)}")


def suggestion(word: str) -> str:
    names = [rule.name for rule in catalogue().values()]
    close = difflib.get_close_matches(word.upper(), catalogue(), n=1, cutoff=0.7)
    close = close or difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.5)
    return f"; did you mean {close[0]}?" if close else " (`gradsan explain --list` shows all of them)"
