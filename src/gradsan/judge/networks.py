"""Who is a copy of whom. A network is a *target* because of what is done with it, never by its name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradsan.judge.copies.aliases import beside
from gradsan.judge.provenance import params_of
from gradsan.record.events import DIRECT, NOBODY, NOTHING, NOWHERE, Chain, Op, ParamId, Site, Sync, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

RESCALING = {"mul", "div", "add", "sub", "clamp"}
COPYING = {"copy", "clone", "detach", "to"}
DRAWN, SCALED = (
    {"uniform", "normal", "randn", "rand", "zero", "fill"},
    {"mul", "div"},
)  # as `torch.nn.init` does
NEAR = 40  # a polyak update is a handful of operations: the source lies this close to the write


@dataclass(slots=True)
class Copying:
    """`pid` was overwritten with (something made of) `source`."""

    source: ParamId
    site: Site
    how: str
    iteration: int
    after_training: bool
    times: int = 1
    longest: int = 0  # iterations between two of its syncs, or before the first
    shortest: int = 0  # and of more than none
    unseen: bool = False  # it has been written since, where nobody looked
    first: ParamId = NOBODY  # what it was copied from at the beginning, whoever came since
    epoch: int = 0  # after how many steps of its source
    chain: Chain = DIRECT
    made_at: Site = (
        NOWHERE  # where it was copied for the first time: a whole network, if it was not done by hand
    )


@dataclass(slots=True)
class MadeOf:
    """A leaf that was computed from parameters; whether an optimizer had them by then."""

    sources: frozenset[ParamId]
    site: Site
    were_owned: bool


class Networks:
    def __init__(self, history: History) -> None:
        self._history = history
        self._now = 0  # the iteration of what is being told
        self.copies: dict[ParamId, Copying] = {}
        self.loaded: dict[ParamId, Site] = {}  # from outside: a file, or another process; and where
        self.new: set[ParamId] = set()  # drawn at random before our eyes, and nothing loaded since
        self.used: set[ValueId] = set()  # values that went into a network by `load_state_dict`
        self.written_by_hand: dict[ParamId, Site] = {}
        self.shares: dict[ParamId, tuple[ParamId, Site]] = {}
        self.handed_over: set[ParamId] = set()  # their gradient was given to another parameter
        self.moved: set[ParamId] = set()  # while nobody looked
        self.made_of: dict[ParamId, MadeOf] = {}  # leaves that were computed, such as stacked parameters

    def revived(self, op: Op) -> None:
        """A computed value was told to require grad: made of whose values?"""
        history = self._history
        sources = frozenset(history.graph.value_params([op.nid]))
        self.made_of.pop(op.facts.pid, None)  # the number may have been another leaf's
        if sources:
            owned = any(history.owner_of(pid) for pid in sources)
            self.made_of[op.facts.pid] = MadeOf(sources, op.site, owned)

    def gradient_set(self, op: Op) -> None:
        """Somebody assigned a `.grad`: made of whose?"""
        graph = self._history.graph
        for source in graph.ancestors(op.inputs).values():
            if source.kind == "gradient read" and source.facts.pid != op.facts.pid:
                self.handed_over.add(source.facts.pid)

    def synced(self, event: Sync) -> None:
        if event.how == "moved":
            self._now = self._history.iteration
            self._moved([pid for pid, _ in event.pairs], self._now - event.passed)
            return
        self._now = self._history.iteration + event.passed
        for (pid, source), nid in zip(
            event.pairs, event.values or (NOTHING,) * len(event.pairs), strict=True
        ):
            made = self._history.graph.get(nid)
            self.new.discard(pid)
            if source and source != pid:
                self._copied(pid, source, event.site, event.how, event.chain)
            elif made is not None:  # a mixture, put together by hand
                self.used.add(nid)
                self._written_from(pid, made, event.site)
            elif not source:
                self.loaded[pid] = event.site

    def _moved(self, pids: list[ParamId], since: int) -> None:
        """Somebody wrote them after the iteration `since`; where that was seen, it says nothing new."""
        for pid in pids:
            copy = self.copies.get(pid)
            if copy is not None and copy.iteration < since:
                copy.longest = max(copy.longest, since - copy.iteration, self._now - since)
                copy.iteration, copy.unseen = self._now, True
            self.moved.add(pid)

    def written(self, op: Op) -> None:
        """A parameter was written outside of an optimizer: from another one of its shape?"""
        self._now = self._history.iteration
        history, pid = self._history, op.facts.pid
        write = history.graph.get(op.inputs[0])
        if write is None:
            return
        # Initialisation is not training, be it a second time.
        if (
            pid in history.ever_fed
            and not self._is_drawn(write)
            and not self._is_rescaled(pid, write)
            and not self._is_restored(pid, write)
        ):
            self.written_by_hand[pid] = op.site
        for other in op.facts.shares:
            self.shares[pid] = (other, op.site)
        if self._is_drawn(write):
            self.new.add(pid)
        elif write.name not in SCALED and pid not in history.graph.value_params(write.inputs[1:]):
            self.new.discard(pid)  # else it was only moved: `net.to(…)`
        self._written_from(pid, write, op.site)

    def _is_rescaled(self, pid: ParamId, write: Op) -> bool:
        """By one number for all of it (PopArt, a limit, a decay): no gradient has so few."""
        others = [i for i in self._history.graph.inputs(write) if pid not in params_of(i)]
        return (
            write.name in RESCALING
            and math.prod(self._history.params[pid].shape) > 1
            and all(math.prod(i.shape) == 1 for i in others)
        )

    def _is_restored(self, pid: ParamId, write: Op) -> bool:
        """To what it was itself: a checkpoint."""
        graph, source = self._history.graph, write
        while source.name in COPYING:
            others = [i for i in graph.inputs(source) if source is not write or pid not in params_of(i)]
            if len(others) != 1:
                return False
            source = others[0]
        return source is not write and pid in params_of(source)

    def _is_drawn(self, write: Op) -> bool:
        """At random, or zeros; an orthogonal matrix is computed from what was drawn, and copied."""
        if write.name != "copy":
            return write.name in DRAWN or write.name.endswith(("_uniform", "_normal"))
        made_of = self._history.graph.ancestors(write.inputs[1:]).values()
        return any(op.name in DRAWN for op in made_of) and not any(op.kind == "data" for op in made_of)

    def _written_from(self, pid: ParamId, write: Op, site: Site) -> None:
        history = self._history
        shape = history.params[pid].shape
        near = self._nearby_params(beside(history.graph, write, pid) or [write])
        sources = [p for p in near if p != pid and history.params[p].shape == shape]
        trained = [p for p in sources if history.params[p].epoch] or sources
        if len(trained) == 1:
            self._copied(pid, trained[0], site, "write", write.chain)
        elif len(trained) > 1:
            self._copied(pid, self._counterpart(pid, trained), site, "write", write.chain)

    def _counterpart(self, pid: ParamId, candidates: list[ParamId]) -> ParamId:
        """Of several sources of one shape (a foreach over a whole network), the one copied before."""
        known = self.copies.get(pid)
        return known.source if known is not None and known.source in candidates else candidates[0]

    def _nearby_params(self, ops: list[Op]) -> list[ParamId]:
        graph = self._history.graph
        found: list[ParamId] = []
        queue, seen = [*ops], {op.nid for op in ops}
        while queue and len(seen) < NEAR:
            op = queue.pop(0)
            found.extend(p for p in params_of(op) if p not in found)
            for source in graph.inputs(op):
                if source.nid not in seen:
                    seen.add(source.nid)
                    queue.append(source)
        return found

    def _copied(self, pid: ParamId, source: ParamId, site: Site, how: str, chain: Chain) -> None:
        history = self._history
        # Perhaps only meant to be trained: no optimizer may own it, by mistake.
        trained = how != "found" and (history.params[source].epoch > 0 or source in history.ever_fed)
        known = self.copies.get(pid)
        again = known if known is not None and known.source == source else None
        times = again.times + 1 if again is not None else 1
        waited = self._now - again.iteration if again is not None else 0
        longest, shortest = (again.longest, again.shortest) if again is not None else (0, 0)
        longest, shortest = max(longest, waited), min(filter(None, (shortest, waited)), default=0)
        first = known.first or known.source if known is not None else source
        epoch = history.params[source].epoch
        made_at = known.made_at if known is not None else NOWHERE if how == "write" else site
        self.copies[pid] = Copying(
            source,
            site,
            how,
            self._now,
            trained,
            times,
            longest,
            shortest,
            False,
            first,
            epoch,
            chain,
            made_at,
        )

    def is_target(self, pid: ParamId) -> bool:
        """A copy of a trained parameter that nothing else trains, or that is synced again and again."""
        copy = self.copies.get(pid)
        if copy is None:
            return False
        history = self._history
        if not history.owner_of(pid):
            trained = history.hand.trained
            by_hand = (
                copy.source in trained and pid not in trained and copy.times > 1
            )  # a worker is copied once
            return by_hand or bool(history.owner_of(copy.source))
        if pid in history.ever_fed and not {o.oid for o in history.owner_of(pid)} & {
            o.oid for o in history.owner_of(copy.source)
        }:
            return False  # trained on losses of its own, by its own optimizer: one of a population
        return copy.after_training and copy.times > 1 and copy.how != "deepcopy"

    def source_of(self, pid: ParamId) -> ParamId | None:
        copy = self.copies.get(pid)
        return None if copy is None else copy.source
