"""Divergences from a reference that a loss makes larger: the penalty has become a reward."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge import flow
from gradsan.judge.history import History
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ParamId, Site, ValueId

SQUARES = {"pow", "square"}
OF_DISTRIBUTIONS = {"mul", *SQUARES}  # the parts of `kl_divergence` that rise with it
WRITES = {"setitem", "index_put"}  # into that of categories, where one has no probability


def raised_divergences(history: History, roots: list[ValueId], way: int) -> Iterator[tuple[Op, set[ParamId]]]:
    """What only grows with the distance from a standing copy and enters with a minus, and who is driven away by it."""
    graph = history.graph
    known = [root for nid in roots if (root := graph.get(nid)) is not None]
    for term in (term for root in known for term in flow.terms(graph, root)):
        op = term.op
        if term.sign * way < 0 and op.live and _is_divergence(graph, op):
            learned = graph.live_params([op.nid])
            if is_from_a_standing_copy(history, graph.value_params([op.nid]) - learned, learned):
                yield op, learned


def joined_at(history: History, op: Op, roots: list[ValueId]) -> Site:
    """Where it was added to what else is learned: there it has got its sign."""
    graph = history.graph
    within = graph.live_ancestors(roots)
    reference = graph.value_params([op.nid]) - graph.live_params([op.nid])
    users = flow.users_through(graph, op, within, flow.LINEAR)
    for user in sorted((u for u in users if u.name in ("add", "sub", "rsub")), key=lambda u: u.nid):
        if any(side.live and not graph.value_params([side.nid]) & reference for side in graph.inputs(user)):
            return user.site
    return op.site


def _is_divergence(graph: Provenance, op: Op) -> bool:
    op = flow.unshaped(graph, op, WRITES)
    if op.name in SQUARES and "kl_divergence" not in op.tags:
        given = next(graph.inputs(op), None)
        return given is not None and len(given.facts.apart) == 3  # the difference of two log-probabilities
    return (
        (op.name in OF_DISTRIBUTIONS and "kl_divergence" in op.tags)
        or op.name == "kl_div"
        or (op.name == "exp" and _is_of_an_estimate(graph, op))
    )


def _is_of_an_estimate(graph: Provenance, power: Op) -> bool:
    """`exp(x) - x - 1`, wherever x was computed again."""
    given = _summands(graph, next(graph.inputs(power), None))
    users = (graph.ops[nid] for nid in graph.consumers.get(power.nid, ()) if nid in graph.ops)
    subtracted = [side for user in users if user.name == "sub" for side in graph.inputs(user)]
    # `exp(x) - 1 - x` subtracts it from the next.
    further = [
        side
        for taken in subtracted
        for nid in graph.consumers.get(taken.nid, ())
        if (user := graph.ops.get(nid)) is not None and user.name == "sub"
        for side in graph.inputs(user)
    ]
    return bool(given) and any(_summands(graph, side) == given for side in (*subtracted, *further))


def _summands(graph: Provenance, op: Op | None) -> set[tuple[ValueId, int]]:
    return {(term.op.nid, term.sign) for term in flow.terms(graph, op)} if op is not None else set()


def is_from_a_standing_copy(history: History, reference: set[ParamId], learned: set[ParamId]) -> bool:
    copies = history.networks.copies
    copied = bool(reference) and all(p in copies and copies[p].source in learned for p in reference)
    return copied and not any(history.owner_of(pid) for pid in reference)
