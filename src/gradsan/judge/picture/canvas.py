"""Makes a sketch small enough to be read: lines that say nothing new disappear into their neighbours, and
the layers of a network that simply follow each other become one box."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gradsan.judge.picture.sketch import Knot, Sketch

READABLE = 14  # as many knots as one takes in without effort


class Canvas:
    def __init__(self, sketch: Sketch) -> None:
        self.knots = {k: _copy(knot) for k, knot in sketch.knots.items()}
        self.root = sketch.root
        self.boxes = {k: [v.box] for k, v in self.knots.items() if v.box}
        self.before: dict[int, set[int]] = {k: set() for k in self.knots}
        self.after: dict[int, set[int]] = {k: set() for k in self.knots}
        for source, target in sketch.edges:
            self.before[target].add(source)
            self.after[source].add(target)

    def simplify(
        self, is_pinned: Callable[[Knot], bool], is_named: Callable[[Knot], bool], network_of: dict[str, str]
    ) -> None:
        lines = [k for k in sorted(self.knots) if k != self.root and k not in self.boxes]
        pinned = {k for k in lines if is_pinned(self.knots[k])}
        for key in lines:
            knot = self.knots[key]
            if not self._cuts(key):
                named = is_named(knot) and not _is_aside(knot) and not self._is_cut_on_its_line(key)
                stays = key in pinned or named
                self._absorb(key, only_same_line=stays)
        self._chain(network_of)
        self._twins()
        for key in lines:
            if len(self.knots) > READABLE and key in self.knots and not self._cuts(key):
                self._absorb(key, only_same_line=key in pinned)

    def flows(self) -> set[int]:
        """The knots that gradient of the loss arrives at."""
        found: set[int] = set()
        stack = [self.root] if self.knots[self.root].live else []
        while stack:
            key = stack.pop()
            if key not in found:
                found.add(key)
                stack.extend(s for s in self.before[key] if self.knots[s].live)
        return found

    def upstream(self, key: int, within: set[int]) -> set[int]:
        found: set[int] = set()
        stack = [key]
        while stack:
            current = stack.pop()
            if current in within and current not in found:
                found.add(current)
                stack.extend(self.before[current])
        return found

    def _cuts(self, key: int) -> bool:
        return not self.knots[key].live and any(self.knots[s].live for s in self.before[key])

    def _is_cut_on_its_line(self, key: int) -> bool:
        """`x = f(y).detach()`: the name belongs to what comes after the cut."""
        line = self.knots[key].sites[-1:]
        return any(self._cuts(to) and self.knots[to].sites[:1] == line for to in self.after[key])

    def _absorb(self, key: int, only_same_line: bool) -> None:
        knot, before, after = self.knots[key], self.before[key], self.after[key]
        if len(after) == 1:
            (to,) = after
            other = self.knots[to]
            same_line = knot.sites[-1:] == other.sites[:1] or knot.sites[-1:] == other.sites[-1:]
            if same_line and to not in self.boxes and not (knot.live and not other.live):
                self._merge(key, to)
                return
        if len(before) == 1:
            (source,) = before
            other = self.knots[source]
            same_line = source not in self.boxes and other.sites[-1:] == knot.sites[-1:]
            if other.live == knot.live and (same_line or not only_same_line):
                self._merge(key, source)

    def _merge(self, key: int, into: int) -> None:
        for source in self.before.pop(key):
            self.after[source].discard(key)
            if source != into:
                self.after[source].add(into)
                self.before[into].add(source)
        for target in self.after.pop(key):
            self.before[target].discard(key)
            if target != into:
                self.before[target].add(into)
                self.after[into].add(target)
        gone, kept = self.knots.pop(key), self.knots[into]
        kept.tags |= gone.tags
        kept.pids |= gone.pids
        kept.uses = {**gone.uses, **kept.uses}
        kept.sites = list(dict.fromkeys([*gone.sites, *kept.sites] if key in self.boxes else kept.sites))
        if key in self.boxes:
            self.boxes[into] = [*self.boxes.pop(key), *self.boxes[into]]

    def _chain(self, network_of: dict[str, str]) -> None:
        for key in sorted(self.boxes):
            after = self.after[key]
            if len(after) != 1:
                continue
            (to,) = after
            if (
                to not in self.boxes
                or self.before[to] != {key}
                or self.knots[to].live != self.knots[key].live
            ):
                continue
            if network_of.get(self.boxes[key][-1]) == network_of.get(self.boxes[to][0], ""):
                self._merge(key, to)

    def _twins(self) -> None:
        """Uses of a network with the same purpose that only their lines told apart."""
        known: dict[object, int] = {}
        for key in sorted(self.boxes):
            purpose = frozenset(self.before[key]), frozenset(self.after[key])
            twin = known.setdefault((*self.boxes[key], self.knots[key].live, purpose), key)
            if twin != key:
                uses, others = self.knots[twin].uses, self.knots[key].uses
                self._merge(key, twin)
                self.boxes[twin] = list(dict.fromkeys(self.boxes[twin]))
                self.knots[twin].uses = {p: uses.get(p, 0) + others.get(p, 0) for p in uses | others}


def _copy(knot: Knot) -> Knot:
    sites, pids, tags, uses = list(knot.sites), set(knot.pids), set(knot.tags), dict(knot.uses)
    return replace(knot, sites=sites, pids=pids, tags=tags, uses=uses)


def _is_aside(knot: Knot) -> bool:
    """The probabilities that a sample was drawn from: not what the line is there for."""
    return knot.live and "sample" in knot.tags and "rsample" not in knot.tags
