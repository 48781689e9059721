"""A summand that was to be kept from a network of another optimizer, and was so on one way only.

Its own network reads values of the other one live, though the summand also takes such values detached: to compute its
constants, or to start a second pass through that network. A trunk that two heads share has nothing detached for one of
them, or belongs to no head's optimizer alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.flow import TAKEN_OUT
from gradsan.judge.provenance import Provenance, params_of
from gradsan.record.events import Op, ParamId, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

MANY = 32  # summands


class HalfParted(NamedTuple):
    term: Op
    use: Op  # where its own network takes in the other one's values
    cut: Op  # where such values were detached for it
    shared: set[ParamId]


def half_parted(history: History, root: Op, consumed: set[ParamId]) -> Iterator[HalfParted]:
    graph = history.graph
    parts = _summands(graph, root)
    if len(parts) < 2 or graph.is_hidden([root.nid]):
        return
    reach = {part.nid: graph.live_params([part.nid]) & consumed for part in parts}
    for term in parts:
        mine = reach[term.nid]
        for optimizer in {o.oid: o for pid in mine for o in history.owner_of(pid)}.values():
            shared, own = mine.intersection(optimizer.params), mine.difference(optimizer.params)
            others = [part for part in parts if not reach[part.nid] & own]
            theirs = set[ParamId]().union(*(reach[part.nid] for part in others))
            if not own or not shared <= theirs or not (theirs - mine).intersection(optimizer.params):
                continue  # its own network, or one that belongs to no other summand
            cut = _cut(graph, term, others, [part for part in parts if part not in others], shared)
            use = _use(graph, term, own, shared)
            if cut is not None and use is not None:
                yield HalfParted(term, use, cut, shared)


def _summands(graph: Provenance, root: Op) -> list[Op]:
    """The numbers that the loss is the sum of, as they were added up; of a line that a rollout runs for every step, one
    of them."""
    parts, stack = list[Op](), [root]
    while stack:
        op = stack.pop()
        inputs = [i for i in graph.inputs(op) if i.live]
        is_sum = op.name in ("add", "sub", "rsub", "neg") or (op.name in ("mul", "div") and len(inputs) == 1)
        if inputs and is_sum and not any(i.shape for i in inputs):
            stack += inputs[::-1]
        elif op.live:
            parts.append(op)
    return parts if len(parts) <= MANY else list({op.site: op for op in parts}.values())


def _cut(graph: Provenance, term: Op, others: list[Op], alike: list[Op], shared: set[ParamId]) -> Op | None:
    """Where a value that the shared parameters alone have made was detached for this summand, and for nothing: beside
    the value itself, or for a second pass through the same network."""
    behind, live = graph.ancestors([term.nid]), graph.live_ancestors([term.nid])
    elsewhere = graph.live_ancestors([other.nid for other in others])
    so = graph.live_ancestors([part.nid for part in alike])  # another of its own kind trains both, and may
    for op in graph.named(behind, TAKEN_OUT):
        values = [i for i in graph.inputs(op) if i.live]
        if op.live or len(values) != 1 or not graph.live_params([values[0].nid]) <= shared:
            continue
        value = values[0].nid
        again = _enters(graph, op, behind, shared)
        if value in live:
            if again is False:
                return op
        elif again and value in elsewhere and value not in so:
            return op
    return None


def _enters(graph: Provenance, cut: Op, within: dict[ValueId, Op], shared: set[ParamId]) -> bool | None:
    """Whether the detached value goes live through a network of these parameters again; False where it goes through
    networks without gradient only, None where through none."""
    stack, seen, found = [cut.nid], set[ValueId](), None
    while stack:
        for nid in graph.consumers.get(stack.pop(), ()):
            op = within.get(nid)
            if op is None or nid in seen:
                continue
            seen.add(nid)
            taken = {pid for i in graph.inputs(op) for pid in params_of(i)}
            if taken and op.live:
                if taken & shared:
                    return True
            elif taken:
                found = False
            if not op.live:
                stack.append(nid)
    return found


def _use(graph: Provenance, term: Op, own: set[ParamId], shared: set[ParamId]) -> Op | None:
    live = graph.live_ancestors([term.nid])
    for nid in sorted(live):
        sources = [i for i in graph.inputs(live[nid]) if i.live]
        if any(set(params_of(i)) & own for i in sources) and graph.live_params([nid]) & shared:
            return live[nid]
    return None
