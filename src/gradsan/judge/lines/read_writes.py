"""Where the source says that a loss was changed in place before its backward, for a forward that nobody traced."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradsan.judge.lines.read_cuts import places_of_loss
from gradsan.judge.lines.source import function_at
from gradsan.record.events import NOWHERE, Backward, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History

# These end with an underscore and leave the numbers alone.
HARMLESS = {"requires_grad_", "detach_", "retain_grad_", "share_memory_"}


def written_by_source(history: History, event: Backward) -> Site:
    """The one line, among those that the loss was put together on, with a method that writes in place."""
    found = {
        history.site_at(place.file, place.line, function_at(place.file, place.line))
        for place in places_of_loss(history, event)
        if any(map(_writes, ast.walk(place.expression)))
    }
    return found.pop() if len(found) == 1 else NOWHERE


def _writes(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    name = node.func.attr
    return name.endswith("_") and not name.startswith("_") and name not in HARMLESS
