"""Values of long ago that somebody still holds, graph and all: in a buffer, a list of losses, a dictionary of
statistics. No loss needs to use them again for the memory to grow."""

from __future__ import annotations

from itertools import pairwise

import torch

from gradsan.observe.graphs.graph import node_label
from gradsan.observe.graphs.holders import holder_of
from gradsan.observe.ops.values import Values
from gradsan.record.events import HeldGraphs, Site

LONG = 48  # iterations; an inner loop holds its losses for fewer
SHORT = 16  # at the end of a run, of what is there since it began: then nobody has let anything go
ITERATIONS = 6  # of which something is still there
FEW = 4  # of these, where hardly more have been traced
MOST_LINES = 4


class HeldGraphsWatch:
    """Asks, at a full look and at the end, which values of the traced iterations are still there."""

    def __init__(self) -> None:
        self._looks: list[
            tuple[int, int]
        ] = []  # the traced iteration that a look began with, and its real number
        self._told: set[Site] = set()

    def look_begins(self, traced: int, iteration: int) -> None:
        self._looks.append((traced, iteration))
        del self._looks[:-64]

    def due(self, traced: int) -> int:
        """The iteration in which all that the newest look has seen made is old: much later, a memory that lets its
        oldest go holds none of it."""
        return self._real(traced) + LONG if self._looks else 0

    def find(self, values: Values, iteration: int) -> HeldGraphs | None:
        """Where the same lines have left something in many iterations, and all of it is old."""
        return self._find(values, iteration, LONG)

    def find_at_end(self, values: Values, iteration: int) -> HeldGraphs | None:
        """Of a run that was too short for anything to be old."""
        return self._find(values, iteration, SHORT if iteration < 2 * LONG else LONG)

    def _find(self, values: Values, iteration: int, long: int) -> HeldGraphs | None:
        held: dict[Site, set[int]] = {}
        oldest: dict[Site, tuple[int, torch.Tensor]] = {}
        for tensor, nid, born in values.alive_with_graph():
            made = self._real(born)
            number, site = node_label(tensor)
            if site and number == nid and iteration - made >= long:
                held.setdefault(site, set()).add(made)
                if made <= oldest.get(site, (made,))[0]:  # the last of a line is what it hands on
                    oldest[site] = made, tensor
        if long < LONG:  # what comes after the first step is made in the second iteration
            began = self._looks[0][1] + 1 if self._looks else 0
            held = {site: made for site, made in held.items() if min(made) <= began}
        enough = self._enough(values.traced, iteration, long)
        new = ((site, made) for site, made in held.items() if site not in self._told)
        lines = [site for site, made in new if len(made) >= (FEW if comes_in_turns(made) else enough)]
        if not lines:
            return None
        self._told.update(lines)
        count = max(len(held[site]) for site in lines)
        held_by = _holder(oldest, lines)
        return HeldGraphs(tuple(lines[:MOST_LINES]), count, iteration - min(held[lines[0]]), held_by)

    def _enough(self, traced: int, iteration: int, long: int) -> int:
        """Large iterations are traced a few times only: then all but one of those must have left something."""
        old = sum(iteration - self._real(one) >= long for one in range(min(traced, ITERATIONS + 1)))
        return min(ITERATIONS, max(FEW, old - 1))

    def _real(self, traced: int) -> int:
        """The iteration of the run that was the so many-th to be traced."""
        began = [(first, real) for first, real in self._looks if first <= traced]
        first, real = began[-1] if began else (0, 0)
        return real + traced - first


def _holder(oldest: dict[Site, tuple[int, torch.Tensor]], lines: list[Site]) -> str:
    """Of the first that anything holds: others are only saved in the graph of what comes after them. Empties `oldest`,
    for what looks for holders is not to be one."""
    holder = ""
    for site in lines[:MOST_LINES]:
        _, kept = oldest.pop(site)
        holder = holder or holder_of(kept)
    oldest.clear()
    return holder


def comes_in_turns(made: set[int]) -> bool:
    """Whether it is made once in so many iterations, as a rollout is: then few of those that were traced hold one."""
    when = sorted(made)
    return all(later - before > 1 for before, later in pairwise(when))
