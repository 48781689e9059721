"""What a leak does to the gradient, as it was measured in the run.

A parameter's gradient is the sum of what comes along the ways that meet there. Where each of these ways leads to the
loss either through the leaking value or past it, the sum falls into two parts, and their sizes and their angle are
known exactly. Where a way leads both ways (one forward pass serves two terms of a loss), the two parts are told apart
where they meet: at a value, not at the parameters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gradsan.judge.flow import param_users
from gradsan.judge.report.findings import Effect, Share
from gradsan.judge.report.wording import line, network_of, networks, value_at
from gradsan.record.events import Junction, Op, ParamId, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History
    from gradsan.judge.ledger import Contribution

Way = tuple[ValueId, ValueId]
MIXED = "the way through it and the way past it share one forward pass"
NONE_AT_ALL = "no gradient at all arrived in the backward that was looked at"
NEVER_COMPUTED = "it would take the gradient of the right loss, which was never computed"
NOT_LOOKED = "nobody looked closely enough at a backward that it is part of"


@dataclass(slots=True)
class _Sums:
    """Squares of both parts of a gradient, and their product."""

    leak: float = 0.0
    rest: float = 0.0
    product: float = 0.0
    pids: set[ParamId] = field(default_factory=set)
    of: str = ""  # where it is not the gradient of these parameters itself

    def add(self, leak: float, rest: float, product: float) -> None:
        self.leak, self.rest, self.product = self.leak + leak, self.rest + rest, self.product + product

    def share(self) -> tuple[float, float | None]:
        leak, rest = math.sqrt(max(self.leak, 0.0)), math.sqrt(max(self.rest, 0.0))
        cosine = self.product / (leak * rest) if leak and rest else None
        share = leak / (leak + rest) if leak + rest else 0.0
        return round(share, 4), None if cosine is None else round(max(-1.0, min(1.0, cosine)), 3)


def share_through(history: History, contribution: Contribution, leaks: Iterable[Way]) -> Effect:
    """The share of the gradient of this backward that came along these ways: from one value to another that it was
    made of."""
    graph, event = history.graph, contribution.event
    ways = {way for way in leaks if graph.get(way[1]) is not None}
    chosen = {source for _, source in ways}
    roots = [root.nid for root in event.roots]
    behind = set(graph.live_ancestors(chosen))
    beside = set(graph.ancestors(roots, lambda op, s: op.live and s.live and (op.nid, s.nid) not in ways))
    split = _Split(behind - beside, beside - behind, ways)
    junctions = {j.pid: j for j in event.facts.junctions if j.pid}
    norms = dict(event.facts.norms)
    live = graph.live_ancestors(roots)
    found: dict[str, _Sums] = {}
    mixed: set[ParamId] = set()
    for pid in graph.live_params(chosen) & set(event.fed or event.reached):
        parts = split.of(junctions[pid]) if pid in junctions else None
        if parts is None and pid not in junctions and pid in norms:
            users = {op.nid for op in param_users(graph, live, {pid})}
            parts = (norms[pid] ** 2, 0.0, 0.0) if users and users <= split.leak else None
        if parts is None:
            mixed.add(pid)
            continue
        sums = found.setdefault(network_of(history, pid), _Sums())
        sums.pids.add(pid)
        sums.add(*parts)
    if mixed:
        _at_values(history, split, event.facts.junctions, behind & beside, mixed, found)
    return _effect(history, found, MIXED if event.facts.norms or junctions else NOT_LOOKED)


def _effect(history: History, found: dict[str, _Sums], why_not: str) -> Effect:
    shares = [
        Share(sums.of or networks(history, sums.pids), len(sums.pids), *sums.share())
        for sums in found.values()
        if sums.leak > 0 or sums.rest > 0
    ]
    return Effect(tuple(shares), "" if shares else NONE_AT_ALL if found else why_not)


def _at_values(
    history: History, split: _Split, junctions: Iterable[Junction], shared: set[ValueId], mixed: set[ParamId],
    found: dict[str, _Sums],
) -> None:  # fmt: skip
    """What arrives at the values from which on both parts take the same way, those nearest the loss."""
    for junction in sorted((j for j in junctions if j.value in shared), key=lambda j: -j.value):
        parts, op = split.of(junction), history.graph.get(junction.value)
        behind = history.graph.live_params([junction.value]) & mixed
        if parts is not None and op is not None and behind:
            mixed = mixed - behind
            found[f"value {op.nid}"] = _Sums(
                *parts,
                behind,
                f"what arrives at {value_at(history, op.site, 'the value')} ({line(history, op.site)}) and goes on to "
                f"{networks(history, behind)}",
            )


@dataclass(frozen=True, slots=True)
class _Split:
    """The values from which gradient goes on through the leak only, and those that it reaches only past it."""

    leak: set[ValueId]
    rest: set[ValueId]
    ways: set[Way]  # of the leak itself

    def of(self, junction: Junction) -> tuple[float, float, float] | None:
        sides = [self._side(source, junction.value) for source in junction.sources]
        if None in sides:
            return None
        count, sums = len(sides), [0.0, 0.0, 0.0]
        products = iter(junction.products)
        for i in range(count):
            for j in range(i, count):
                product = next(products)
                times = 1 if i == j else 2
                if sides[i] == sides[j]:
                    sums[0 if sides[i] else 1] += times * product
                else:
                    sums[2] += product
        return sums[0], sums[1], sums[2]

    def _side(self, source: ValueId, value: ValueId) -> int | None:
        if source in self.leak or (source, value) in self.ways:
            return 1
        return 0 if source in self.rest else None


def from_outside(history: History, op: Op, within: Iterable[ValueId]) -> list[Way]:
    """All ways into a value, from what was made of it on the way to the loss."""
    return [(user, op.nid) for user in history.graph.consumers.get(op.nid, ()) if user in set(within)]


def never_computed() -> Effect:
    """Of a value that was overwritten, or a shape that is wrong: nothing to compare with."""
    return Effect(not_measured=NEVER_COMPUTED)


def of_all(history: History, parts: Iterable[Contribution], pids: set[ParamId]) -> Effect:
    """These parameters should have got nothing at all: the whole of what they got."""
    norms = [norm for part in parts for pid, norm in part.event.facts.norms if pid in pids]
    share = Share(networks(history, pids), len(pids), 1.0 if any(norms) else 0.0, None)
    return Effect((share,)) if norms else Effect(not_measured=NOT_LOOKED)


def share_added(history: History, contribution: Contribution, pids: set[ParamId], by_this: bool) -> Effect:
    """Of the gradient that lay there before a backward and of what that added: the share of the one that does not
    belong (`by_this`: what this backward added)."""
    found: dict[str, _Sums] = {}
    for overlap in contribution.event.facts.overlaps:
        if overlap.pid in pids:
            sums = found.setdefault(network_of(history, overlap.pid), _Sums())
            sums.pids.add(overlap.pid)
            parts = (overlap.added, overlap.before) if by_this else (overlap.before, overlap.added)
            sums.add(*parts, overlap.product)
    return _effect(history, found, NOT_LOOKED)
