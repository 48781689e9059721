"""Losses are divided by the number of micro-batches in a window, and again and again a window is shorter than that."""

from __future__ import annotations

from typing import NamedTuple

from gradsan.judge.flow import SHAPING
from gradsan.judge.ledger import Contribution
from gradsan.judge.order.token_weights import is_count
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Site

LEAST = 2  # micro-batches
MEANS = {"mean", "cross_entropy", "nll_loss", "mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss"}
FULL, SHORT = 2, 2  # windows: the last of a run may be cut short by its end


class ShortWindow(NamedTuple):
    site: Site
    divisor: int
    parts: int


class ShortWindows:
    def __init__(self) -> None:
        self._full: dict[tuple[Site, int], int] = {}  # by the line that divides, and by what
        self._short: dict[tuple[Site, int], int] = {}

    def window(self, graph: Provenance, parts: list[Contribution]) -> ShortWindow | None:
        """Where all losses of these micro-batches are divided by one number that is more than there are of them, and
        was their number before."""
        divided = [_divisors(graph, part) for part in parts]
        for site, number in set.intersection(*divided) if divided else ():
            key = site, number
            if number == len(parts):
                self._full[key] = self._full.get(key, 0) + 1
            elif number > len(parts):
                self._short[key] = self._short.get(key, 0) + 1
                if self._short[key] >= SHORT and self._full.get(key, 0) >= FULL:
                    return ShortWindow(site, number, len(parts))
            else:  # it was not the number of micro-batches
                self._full[key] = -(1 << 20)
        return None


def _divisors(graph: Provenance, part: Contribution) -> set[tuple[Site, int]]:
    """The whole numbers that a mean is divided by last of all, and where. A sum may be divided by the number of rows in
    all micro-batches, however many these are."""
    op, found, is_mean = graph.get(part.event.roots[0].nid), set[tuple[Site, int]](), False
    while op is not None and op.name in SHAPING | {"mul", "div", "neg"}:
        live = [source for source in graph.inputs(op) if source.live]
        if len(live) != 1:
            break
        number = op.facts.scalars[0] if len(op.facts.scalars) == 1 else 0.0
        number = 1.0 / number if op.name == "mul" and number else number
        if is_count(number) and number >= LEAST:
            found.add((op.site, round(number)))
        is_mean = is_mean or (op.name == "div" and len(op.inputs) == 2)  # by a count
        op = live[0]
    is_mean = is_mean or (op is not None and op.name in MEANS and op.facts.valid >= 0)
    return found if is_mean else set()
