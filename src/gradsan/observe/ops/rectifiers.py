"""The rectifiers that a choice is made from at once: no layer comes between them and the softmax or the `gather`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

CHOOSING = ("Softmax", "LogSoftmax", "Logsumexp", "Gather")
RECTIFYING = ("Relu", "Clamp")
PASSING = ("View", "Squeeze", "Unsqueeze", "UnsafeView", "ReshapeAlias", "Div", "Mul")


def last_rectifiers(nodes: Iterable[Any]) -> set[Any]:
    found: set[Any] = set()
    for node in nodes:
        if node.name().startswith(CHOOSING):
            below = _first_of(node)
            while below is not None and below.name().startswith(PASSING):
                below = _first_of(below)
            if below is not None and below.name().startswith(RECTIFYING):
                found.add(below)
    return found


def _first_of(node: Any) -> Any:
    return next((child for child, _ in node.next_functions if child is not None), None)
