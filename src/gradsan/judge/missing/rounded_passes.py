"""Forward passes of which a loss sees nothing but a rounded result.

The parameters may well learn from another pass, or from a penalty on the weights; from this one they learn nothing. A
rounding is meant where what it rounds goes on beside it (`x - x.round()`), and where it only weighs something else that
is trained (`error.sign() * log_prob`)."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.flow import SHAPING
from gradsan.judge.provenance import Provenance, params_of
from gradsan.record.events import Op, ParamId, ValueId

# Flat everywhere but at the steps: nobody needs to wait and see.
STEPWISE = {"round", "floor", "ceil", "trunc", "fix", "sign", "sgn", "heaviside"}


def rounded_passes(graph: Provenance, roots: list[ValueId]) -> Iterator[tuple[Op, set[ParamId]]]:
    """The roundings, with the parameters of the last layers before them."""
    within = graph.live_ancestors(roots)
    rounded = graph.named(within, STEPWISE)
    if not rounded:
        return
    beside = graph.ancestors(roots, lambda op, source: op.live and source.live and op.name not in STEPWISE)
    for op in rounded:
        layers = _last_layers(graph, op, beside) if op.live else set()
        if layers and not _only_weighs(graph, op, within):
            yield op, layers


def _last_layers(graph: Provenance, op: Op, beside: dict[ValueId, Op]) -> set[ParamId]:
    """Of the layers that made what is rounded; none where any of it reaches the loss another way."""
    stack, seen, found = [i for i in graph.inputs(op) if i.live], set[ValueId](), set[ParamId]()
    while stack:
        value = stack.pop()
        if value.nid in beside:
            return set()
        if value.nid in seen:
            continue
        seen.add(value.nid)
        own = {pid for i in graph.inputs(value) for pid in params_of(i)}
        found |= own
        stack += [] if own else [i for i in graph.inputs(value) if i.live]
    return found


def _only_weighs(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> bool:
    users = [within[nid] for nid in graph.consumers.get(op.nid, ()) if nid in within]
    return bool(users) and all(
        _only_weighs(graph, user, within)
        if user.name in SHAPING | {"neg"}
        else user.name in ("mul", "div") and all(i.live for i in graph.inputs(user)) and len(user.inputs) == 2
        for user in users
    )
