"""What a second backward finds freed: a value that this loss has in common with one that went backward before."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gradsan.judge.lines.callers import parting, used_in, way_of
from gradsan.judge.lines.carriers import carried_by, is_kept
from gradsan.judge.lines.source import names_bound_at, words_at
from gradsan.judge.provenance import params_of
from gradsan.record.events import NOWHERE, Backward, Op, Site, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History
    from gradsan.judge.ledger import Contribution

WRITING = {"setitem", "copy", "index_put", "index_copy"}


def shared_with_earlier(history: History, event: Backward) -> tuple[Contribution | None, Op | None]:
    """The newest value that this loss has in common with a loss that went backward before."""
    graph = history.graph
    mine = graph.live_ancestors(root.nid for root in event.roots)
    best: tuple[Contribution | None, Op | None] = (None, None)
    for other in history.ledger.recent.values():
        if other.bid == event.bid or other.event.error:
            continue
        theirs = graph.live_ancestors(root.nid for root in other.event.roots)
        both = mine.keys() & theirs.keys() | _other_results(mine, theirs)
        common = [n for n in both if mine[n].inputs and mine[n].site]
        if common and (best[1] is None or max(common) > best[1].nid):
            best = (other, mine[max(common)])
    if best[0] is None:
        earlier = [c for c in history.ledger.recent.values() if c.bid != event.bid]
        return (earlier[-1] if earlier else None), None
    return best


def _other_results(mine: dict[ValueId, Op], theirs: dict[ValueId, Op]) -> set[ValueId]:
    """Values of one loss that an operation made together with values of the other: a recurrent layer gives its outputs
    to one, and its state to the next."""
    made = {(op.name, op.inputs): op.facts.part for op in theirs.values() if op.inputs}
    return {nid for nid, op in mine.items() if made.get((op.name, op.inputs), op.facts.part) != op.facts.part}


@dataclass(frozen=True)
class FreedGraph:
    history: History
    shared: Op
    first: Contribution  # its backward freed the graph of the shared value
    event: Backward  # needs it again

    @property
    def in_loop(self) -> bool:
        """One line that sends both backward stands in a loop: what every round takes along was made outside of it."""
        return self._same_call(self.first.event)

    def _same_call(self, other: Backward) -> bool:
        """A helper that several losses are handed to has one line for all of them."""
        return (other.site, other.chain) == (self.event.site, self.event.chain)

    @property
    def is_old(self) -> bool:
        made_in = self.history.graph.iteration_of.get(self.shared.nid, 0)
        return made_in < self.history.iteration and bool(self.first.consumed_pids())

    @property
    def is_mistaken(self) -> bool:
        """Another loss was meant: where it was made is right."""
        return (
            not self.in_loop and _is_root(self.shared, self.event) and _is_root(self.shared, self.first.event)
        )

    @cached_property
    def is_of_this_round(self) -> bool:
        """Though a step has come between, both are of one round of the loop."""
        first = self.first.event
        same = [
            c
            for c in self.history.ledger.recent.values()
            if (c.site, c.event.chain) == (first.site, first.chain)
        ]
        return not self.in_loop and bool(same) and same[-1] is self.first

    @cached_property
    def _mine(self) -> dict[ValueId, Op]:
        return self.history.graph.live_ancestors(root.nid for root in self.event.roots)

    @cached_property
    def onward(self) -> dict[ValueId, Op]:
        """What was made of the shared value until it came to this loss, the oldest first; itself among them."""
        found = self.history.graph.descendants([self.shared.nid], self._mine)
        return {nid: self._mine[nid] for nid in sorted(found)}

    def used_again(self, value: Op) -> Op | None:
        """Where this loss takes the value up: the place for a `detach`."""
        users = [
            self._mine[nid] for nid in self.history.graph.consumers.get(value.nid, ()) if nid in self._mine
        ]
        return max(users, key=lambda op: op.nid, default=None)

    def stored(self) -> Op | None:
        """The first write of a value with a graph into a buffer without one, among what the shared value was made
        of, or what was made of it until it came to this loss; else what was made of it to be kept in a container."""
        graph, onward = self.history.graph, self.onward
        for _, op in sorted((graph.live_ancestors([self.shared.nid]) | onward).items()):
            sources = list(graph.inputs(op))
            if op.name in WRITING and op.site and len(sources) > 1 and not sources[0].live:
                return op
        made_of_it = (op for op in onward.values() if op is not self.shared)
        return next((op for op in made_of_it if is_kept(self.history, op)), None)

    def taken_along(self) -> Op | None:
        """Where the first loss takes the shared value up, if what was stepped upon that loss has no part in the value:
        another's loss is to train what has, and to this one it is a number (the log-probability in a temperature's
        loss, the value in an advantage)."""
        graph, consumed = self.history.graph, self.first.consumed_pids()
        behind = graph.live_params([self.shared.nid])
        if not consumed or not behind or consumed & behind or _is_root(self.shared, self.first.event):
            return None
        theirs = graph.live_ancestors(root.nid for root in self.first.event.roots)
        users = [theirs[nid] for nid in graph.consumers.get(self.shared.nid, ()) if nid in theirs]
        return min(users, key=lambda op: op.nid, default=None)

    def serves_both(self, taken: Op) -> bool:
        """One line of a helper (a network's forward) takes it up for both losses: the place for a `detach` is where it
        was made for them."""
        again = self.used_again(self.shared)
        outside = parting(self.history, way_of(self.history, taken), way_of(self.history, self.shared))
        return again is not None and again.site == taken.site and outside > 0

    def second_use(self) -> Site:
        """Where this loss takes up what was live for another one of the same round, by right: after the step it is to
        be a number here. Nowhere, where the value comes from an earlier round."""
        history, shared = self.history, self.shared
        if self.is_of_this_round and not self._has_other_parts():
            return NOWHERE  # as a number it would leave nothing to learn
        taught = self.first.consumed_pids() & history.graph.live_params([shared.nid])
        again, root = self.used_again(shared), history.graph.get(self.event.roots[0].nid)
        if not self.is_of_this_round or not taught or again is None or root is None:
            return NOWHERE
        made, use = history.sites.get(carried_by(history, shared)), used_in(history, again, root)
        seen = history.sites.get(use)
        if made is None or seen is None or made.file != seen.file:
            return NOWHERE
        by_name = names_bound_at(made.file, made.line) & words_at(seen.file, seen.line)
        return use if by_name else NOWHERE

    def _has_other_parts(self) -> bool:
        """Whether this loss has parameters past the shared value."""
        roots = [root.nid for root in self.event.roots]
        past = self.history.graph.ancestors(roots, lambda user, _: user.live and user.nid != self.shared.nid)
        return any(params_of(op) for op in past.values())


def _is_root(op: Op, event: Backward) -> bool:
    return any(root.nid == op.nid for root in event.roots)
