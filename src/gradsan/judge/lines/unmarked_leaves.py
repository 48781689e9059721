"""What a loss is made of, and what the script reads the gradient of by its own hand: `log_alpha.grad`. By its source,
this is what the backward is for."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradsan.judge.lines.read_cuts import bound_before, places_of_loss
from gradsan.judge.lines.source import function_at, tree_of
from gradsan.record.events import NOWHERE, Backward, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History


def read_by_hand(history: History, event: Backward) -> tuple[str, Site]:
    """The one name in a loss without a graph whose `.grad` is read, and the line that gives it its value."""
    found: dict[str, Site] = {}
    for place in places_of_loss(history, event):
        names = {n.id for n in ast.walk(place.expression) if isinstance(n, ast.Name)}
        for name in sorted(names & _with_gradient(place.file)):
            made = bound_before(place, name)
            if made is not None:
                found[name] = history.site_at(made.file, made.line, function_at(made.file, made.line))
    return next(iter(found.items())) if len(found) == 1 else ("", NOWHERE)


def _with_gradient(file: str) -> set[str]:
    tree = tree_of(file)
    reads = (n for n in (ast.walk(tree) if tree is not None else ()) if isinstance(n, ast.Attribute))
    return {n.value.id for n in reads if n.attr == "grad" and isinstance(n.value, ast.Name)}
