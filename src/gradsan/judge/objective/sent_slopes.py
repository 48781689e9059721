"""A deterministic policy gradient by hand: the slope of a value by an action is taken first, and sent up into the
network that made the action: `action.backward(-slope)`, or `-(action * slope).mean()`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from gradsan.judge.flow import REDUCING, SHAPING, unshaped
from gradsan.judge.history import History
from gradsan.judge.meaning import Head, layer
from gradsan.judge.provenance import Provenance
from gradsan.record.events import NOTHING, Backward, Op, ValueId

SCALING = {"mul", "div"}
TURNING = {"neg"}
ADDING = {"add", "sub", "rsub"}


class SentSlope(NamedTuple):
    """The loss rises (`sign` 1) or falls with the value of `critic` at `value`, as far as `read` is its slope."""

    sign: int
    critic: Head
    value: Op
    read: Op


def sent_slopes(history: History, event: Backward) -> Iterator[SentSlope]:
    graph = history.graph
    for action, weight, sign in _weighed(graph, event):
        slope = _signed(graph, weight, lambda op: op.kind == "gradient read")
        taken = _taken_by(history, slope[0]) if slope is not None else None
        if slope is None or taken is None or not _is_slope_by(graph, taken, slope[0], action):
            continue
        for root in taken.roots:
            value = _signed(graph, root.nid, lambda op: bool(layer(graph, op.nid)))
            if value is not None:
                read, turned = slope
                yield SentSlope(sign * turned * value[1], layer(graph, value[0].nid), value[0], read)


def _weighed(graph: Provenance, event: Backward) -> Iterator[tuple[ValueId, ValueId, int]]:
    """What is sent up with which weight, and whether with the weight or against it."""
    for root in event.roots:
        if root.weight != NOTHING:
            yield root.nid, root.weight, 1
    within = graph.live_ancestors(root.nid for root in event.roots)
    for op in graph.named(within, ("mul",)):
        live, constant = (
            next((i for i in graph.inputs(op) if i.live is kind), None) for kind in (True, False)
        )
        if live is not None and constant is not None and (sign := _enters(graph, op, within)):
            yield live.nid, constant.nid, sign


def _enters(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> int:
    """Whether the loss rises (1) or falls (-1) with this value; 0 where it is not a plain summand."""
    sign, here = 1, op
    while users := [within[nid] for nid in dict.fromkeys(graph.consumers.get(here.nid, ())) if nid in within]:
        if len(users) > 1 or users[0].name not in SHAPING | REDUCING | SCALING | TURNING | ADDING:
            return 0
        following = users[0]
        if following.name in SCALING and len(following.inputs) > 1:
            return 0
        second = following.name == "sub" and following.inputs[0] != here.nid
        if _turns(following) or second or (following.name == "rsub" and following.inputs[0] == here.nid):
            sign = -sign
        here = following
    return sign


def _turns(op: Op) -> bool:
    return op.name in TURNING or (op.name in SCALING and any(scalar < 0 for scalar in op.facts.scalars))


def _signed(graph: Provenance, nid: ValueId, is_it: Callable[[Op], bool]) -> tuple[Op, int] | None:
    """What this is, up to a factor, and the sign of the factor."""
    op, sign = graph.get(nid), 1
    while op is not None and not is_it(op):
        inputs = list(graph.inputs(op))
        if len(inputs) != 1 or op.name not in SHAPING | REDUCING | SCALING | TURNING:
            return None
        if _turns(op):
            sign = -sign
        op = inputs[0]
    return (op, sign) if op is not None else None


def _taken_by(history: History, read: Op) -> Backward | None:
    """The call that made this gradient; of a `.grad` that was read, the last one that wrote there."""
    recent = history.ledger.recent
    if read.facts.made_by:
        found = recent.get(read.facts.made_by)
    else:
        found = next((c for c in reversed(recent.values()) if read.facts.pid in c.event.fed), None)
    return found.event if found is not None else None


def _is_slope_by(graph: Provenance, taken: Backward, read: Op, action: ValueId) -> bool:
    """Whether it is the slope by this very action, or by a copy of it without a graph."""
    call, made = next(graph.inputs(read), None), graph.get(action)
    asked = [op for nid in call.inputs[1:] if (op := graph.get(nid)) is not None] if call is not None else []
    within = graph.live_ancestors(root.nid for root in taken.roots) if read.facts.pid else {}
    asked += [op for op in within.values() if op.facts.pid == read.facts.pid]
    return made is not None and any(_same(graph, op, made) for op in asked)


def _same(graph: Provenance, asked: Op, made: Op) -> bool:
    here: Op | None = asked
    while here is not None and here.nid != made.nid:
        here = next(graph.inputs(here), None) if here.name in SHAPING | {"detach", "data"} else None
    return here is not None or unshaped(graph, asked).nid == unshaped(graph, made).nid
