"""Masks that let nothing pass, made of places and whole numbers: no reward and no prediction has closed them."""

from __future__ import annotations

from gradsan.judge.flow import SELECTING, SHAPING
from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.masks import COMPARING
from gradsan.record.events import Op, ValueId

TURNING = SHAPING | SELECTING | {"invert", "logical_not", "bitwise_not", "rsub", "bool", "long", "int"}
PLACES = {"arange", "cumsum", "triu", "tril", "tril_indices", "triu_indices"}
WEIGHING = {"softmax", "log_softmax", "logsumexp"}


def closed_mask(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> Op | None:
    """The comparison that made the mask with which `op` takes the gradient of everything it is given, where it is
    about places in a sequence: by their numbers, or by the tokens that the network reads there."""
    masks = [made for i in graph.inputs(op) if not i.live and (made := _comparison(graph, i)) is not None]
    if len(masks) != 1 or not _is_of_whole_numbers(graph, masks[0]):
        return None
    behind = graph.ancestors([masks[0].nid])
    if _is_weighed(graph, op, within) or any(o.name in PLACES for o in behind.values()):
        return masks[0]
    read = graph.ancestors([i for o in within.values() if o.name == "embedding" for i in o.inputs[:1]])
    compared = [i for i in graph.inputs(masks[0]) if not i.floating]
    return masks[0] if any(i.nid in read for i in compared) else None


def _is_weighed(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> bool:
    """What may be attended to, before a softmax: somewhere there must be something."""
    users = [within[nid] for nid in graph.consumers.get(op.nid, ()) if nid in within]
    return op.name != "mul" and any(user.name in WEIGHING for user in users)


def _comparison(graph: Provenance, op: Op) -> Op | None:
    """What says yes or no, before it was turned round, cast or given another form."""
    for _ in range(50):
        if op.name in COMPARING - {"logical_not", "bitwise_not"}:
            return op
        sources = [i for i in graph.inputs(op) if not i.live]
        if op.name not in TURNING or not sources:
            return None
        op = sources[0]
    return None


def _is_of_whole_numbers(graph: Provenance, mask: Op) -> bool:
    """Whether everything that is compared is: what depends on a reward may be closed until one is found."""
    stack, seen = [mask], set[ValueId]()
    while stack:
        op = stack.pop()
        if op.nid in seen:
            continue
        seen.add(op.nid)
        if op.name not in COMPARING and op.name not in TURNING:
            if op.floating:
                return False
            continue
        if op.floating and op.name not in ("float", "to", "type", "double"):
            return False
        stack.extend(graph.inputs(op))
    return True
