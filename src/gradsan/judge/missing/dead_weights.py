"""A weight of the loss that is made after the shape of what is trained, and of nothing else of it: a ratio of one."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge import flow
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ParamId, ValueId

ONES, ZEROS = {"ones_like", "new_ones"}, {"zeros_like", "new_zeros"}
BOUNDED = flow.SHAPING | flow.REDUCING | {"clamp", "neg"}


def dead_weights(
    graph: Provenance, roots: list[ValueId], trained: set[ParamId]
) -> Iterator[tuple[Op, set[ParamId]]]:
    """`exp(zeros_like(new - old)) * advantage`: a summand that data weigh and that is a constant, while the value whose
    shape it has was computed for this loss and used for nothing else. A term of zeros is one that is switched off."""
    within, live = graph.ancestors(roots), graph.live_ancestors(roots)
    if not graph.named(within, ONES | ZEROS):
        return
    for root in [graph.get(nid) for nid in roots]:
        for term in flow.terms(graph, root) if root is not None else ():
            if term.op.live:
                continue
            for op in graph.named(graph.ancestors([term.op.nid]), ONES | ZEROS):
                source = next(graph.inputs(op), None)
                if source is None or not source.live or source.nid in live:
                    continue
                pids = graph.live_params([source.nid]) & trained
                if pids and _weighs_data(graph, op, within):
                    yield op, pids


def _weighs_data(graph: Provenance, shaped: Op, within: dict[ValueId, Op]) -> bool:
    """Whether it is one for every element, and multiplied with something that differs between them."""
    stack, seen = [(shaped, shaped.name in ONES)], set[ValueId]()
    while stack:
        value, is_one = stack.pop()
        for user in (within[nid] for nid in graph.consumers.get(value.nid, ()) if nid in within):
            others = [i for i in graph.inputs(user) if i.nid != value.nid]
            if is_one and user.name == "mul" and others and others[0].shape and not others[0].live:
                return True
            if user.nid not in seen and (user.name in BOUNDED or (user.name == "exp" and not is_one)):
                seen.add(user.nid)
                stack.append((user, is_one or user.name == "exp"))
    return False
