"""Scores that teach nothing: the log-probability of a draw under the very distribution that it was drawn from, weighed
alike for all draws. Its gradient is zero on average, whatever the weight; with `rsample` it would be an entropy."""

from __future__ import annotations

from gradsan.judge.flow import ADDITIVE, REDUCING, SHAPING, unshaped
from gradsan.judge.provenance import Provenance, params_of
from gradsan.record.events import Op, ParamId, ValueId

EVEN = SHAPING | REDUCING | ADDITIVE | {"mul", "div", "stack", "cat", "min", "minimum"}


def idle_scores(graph: Provenance, roots: list[ValueId], draw: Op) -> list[Op]:
    """Those of this draw in a loss that has no other use for them."""
    live, even = graph.live_ancestors(roots), _weighed_alike(graph, roots, draw)
    summed = {nid for nid, op in even.items() if _is_summed(graph, op, draw)}
    return [
        op
        for op in even.values()
        if "log_prob" in op.tags
        and _scores(graph, op, draw)
        and graph.descendants([op.nid], live) <= summed | {op.nid}
    ]


def _scores(graph: Provenance, score: Op, draw: Op) -> bool:
    """Whether it scores this draw by what it was drawn with; not a later one, which the draw has led to."""
    drawn_with = {_scored(graph, unshaped(graph, i)).nid for i in graph.inputs(draw) if i.live}
    if not drawn_with <= graph.live_ancestors([score.nid]).keys():
        return False
    behind = graph.ancestors([score.nid], lambda op, _: not any(map(params_of, graph.inputs(op))))
    return draw.nid in behind


def _scored(graph: Provenance, odds: Op) -> Op:
    """What probabilities were made of, which is what a distribution scores a choice with."""
    source = next(graph.inputs(odds), None) if odds.name == "softmax" else None
    return odds if source is None else source


def is_judged(graph: Provenance, roots: list[ValueId], draw: Op, drawn_with: set[ParamId]) -> bool:
    """Whether what another network says of this draw is made large or small as it is, in every row alike: through that
    judgement, what the draw was made with is to learn."""
    for op in _weighed_alike(graph, roots, draw).values():
        if op.name in EVEN or "log_prob" in op.tags or draw.nid not in graph.ancestors([op.nid]):
            continue
        judges = graph.live_params([op.nid])
        if judges and judges.isdisjoint(drawn_with):
            return True
    return False


def is_judged_apart(graph: Provenance, roots: list[ValueId], draw: Op, drawn_with: set[ParamId]) -> bool:
    """Whether what another network says of this draw is added as it is, a constant: a choice is no way to what it was
    drawn with, and so nothing is to learn from that."""
    for op in _weighed_alike(graph, roots, draw).values():
        for side in graph.inputs(op) if _is_summed(graph, op, draw) else ():
            if side.live or not side.floating or draw.nid not in graph.ancestors([side.nid]):
                continue
            apart_from_it = graph.ancestors([side.nid], lambda user, _: user.nid != draw.nid)
            judges = {pid for value in apart_from_it.values() for pid in params_of(value)}
            if judges and judges.isdisjoint(drawn_with):
                return True
    return False


def _weighed_alike(graph: Provenance, roots: list[ValueId], draw: Op) -> dict[ValueId, Op]:
    """The live values that enter the loss with one number for all rows, down to log-probabilities and to what is no
    sum any more."""
    found: dict[ValueId, Op] = {}
    stack = [op for nid in roots if (op := graph.get(nid)) is not None and op.live]
    while stack:
        op = stack.pop()
        if op.nid in found:
            continue
        found[op.nid] = op
        if _is_summed(graph, op, draw):
            stack += [i for i in graph.inputs(op) if i.live]
    return found


def _is_summed(graph: Provenance, op: Op, draw: Op) -> bool:
    if op.name not in EVEN or "log_prob" in op.tags:
        return False
    if op.name not in ("mul", "div"):
        return True
    sides = list(graph.inputs(op))
    single = [s for s in sides if s.shape in ((), (1,)) and draw.nid not in graph.ancestors([s.nid])]
    return len(op.inputs) == 1 or (len(sides) == 2 and len(single) >= 1)
