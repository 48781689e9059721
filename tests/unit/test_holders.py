"""Who holds an object."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

from gradsan.observe.graphs.holders import holder_of


class Kept:
    pass


class Buffer:
    def __init__(self, inside: Any) -> None:
        self.inside = inside


@pytest.mark.parametrize(
    "wrap", [lambda x: x, lambda x: [x], lambda x: {"a": deque([x])}, lambda x: {1: [(x,)]}]
)
def test_the_attribute_is_named(wrap: Any) -> None:
    kept = Kept()
    buffer = Buffer(wrap(kept))
    assert holder_of(kept) == "inside"
    del buffer


def test_nobody_is_named_where_two_hold_it() -> None:
    kept = Kept()
    one, other = Buffer([kept]), Buffer([kept])
    other.elsewhere = other.__dict__.pop("inside")  # type: ignore[attr-defined]
    assert holder_of(kept) == ""
    del one, other
