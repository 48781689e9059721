"""Which terms of a difference are a bootstrapped value on the target's side, and carry gradient."""

from __future__ import annotations

from collections.abc import Callable

from gradsan.judge.flow import SELECTING, SHAPING, Term, behind_all, constant_terms, first_scalar
from gradsan.judge.leaks.live_targets import modelled
from gradsan.judge.provenance import Provenance
from gradsan.judge.residuals import Residual
from gradsan.record.events import Op, ParamId, ValueId

LEAST_DISCOUNT = 0.8


def live_target(graph: Provenance, residual: Residual, consumed: set[ParamId]) -> list[Term]:
    """The live terms that stand on the reward's side of the difference, if the other side is live too.

    Two live terms alone are no temporal difference (a dueling network has them, so has a preference
    loss): the one on the reward's side must be discounted where the other is not, or come out of a
    forward pass of its own."""
    live, data = residual.live(), residual.data()
    if not data:
        if not any(t.scaled for t in live):
            return []
        if counted := plain_rewards(graph, residual):
            return _of_plain_rewards(graph, live, counted, consumed)
        data = modelled(graph, residual, consumed)
        live = [t for t in live if t not in data]
        if not any(t.scaled for t in live):
            return []
    if len(live) < 2 or not data:
        return []
    for side in dict.fromkeys(d.sign for d in data):  # a soft target subtracts an entropy as well
        if found := _on_side(graph, live, side, consumed, _is_discounted_alone):
            return found
    if len({part.sign for d in data for part in constant_terms(graph, d)}) != 1:
        return []
    sides = dict.fromkeys(_sides_of(graph, residual, data))
    passes = {t.op.nid: _computed_for(graph, t.op) for t in live}

    def has_own_pass(graph: Provenance, value: Term, predicted: Term) -> bool:
        apart = passes[value.op.nid].isdisjoint(passes[predicted.op.nid])
        return apart and _says_something_of_data(graph, value.op)

    return next(
        (found for side in sides if (found := _on_side(graph, live, side, consumed, has_own_pass))), []
    )


def _on_side(
    graph: Provenance, live: list[Term], side: int, consumed: set[ParamId],
    tells: Callable[[Provenance, Term, Term], bool],
) -> list[Term]:  # fmt: skip
    predicted = [t for t in live if t.sign == -side]
    return [
        t
        for t in live
        if t.sign == side
        and not (_is_log_prob(graph, t.op) and any(_is_log_prob(graph, p.op) for p in predicted))
        and graph.live_params([t.op.nid]) & consumed
        and any(tells(graph, t, p) for p in predicted)
    ]


def _is_discounted_alone(graph: Provenance, value: Term, predicted: Term) -> bool:
    return value.scaled and not predicted.scaled and not _is_another_head(graph, value.op, predicted.op)


def _sides_of(graph: Provenance, residual: Residual, data: list[Term]) -> list[int]:
    """The signs of what each number was put together with before, on a line of its own: `q - entropy` is a target,
    whatever the sign of the entropy."""
    within, live = graph.live_ancestors([residual.op.nid]), residual.live()
    sums = [op for op in graph.named(within, ("add", "sub", "rsub")) if op.site != residual.op.site]
    found, waiting = dict[ValueId, int](), {d.op.nid for d in data}
    for op in sorted(sums, key=lambda op: op.nid):
        if not waiting:
            break
        inside = graph.ancestors([op.nid])
        signs = {t.sign for t in live if t.op.nid in inside}
        if len(signs) == 1:
            met = {nid for nid in waiting if nid in inside}
            found.update(dict.fromkeys(met, signs.pop()))
            waiting -= met
    return [found.get(d.op.nid, d.sign) for d in data]


def plain_rewards(graph: Provenance, residual: Residual) -> list[Term]:
    """`reward + 0.99 * value`, where the reward is a plain number: the sum stands for it, with the value's sign."""
    scaled = {t.op.nid: t.sign for t in residual.live() if t.scaled}
    found = []
    for op in graph.named(graph.live_ancestors([residual.op.nid]), ("add",)):
        if len(op.inputs) != 1 or not op.facts.scalars or not _is_discounted(graph, op):
            continue
        signs = {scaled[nid] for nid in graph.live_ancestors([op.nid]) if nid in scaled}
        if len(signs) == 1:
            found.append(Term(op, signs.pop(), False, 0))
    return found


def _is_discounted(graph: Provenance, op: Op) -> bool:
    """Whether what a number is added to was multiplied by a number a little below one."""
    source = next(graph.inputs(op), None)
    while source is not None and source.live and source.name in SHAPING | {"mul"}:
        if source.name == "mul" and len(source.inputs) == 1 and LEAST_DISCOUNT <= first_scalar(source) < 1.0:
            return True
        source = next((i for i in graph.inputs(source) if i.live), None)
    return False


def _of_plain_rewards(
    graph: Provenance, live: list[Term], counted: list[Term], consumed: set[ParamId]
) -> list[Term]:
    """The discounted values on that side, each of a forward pass of its own: a prediction that is moved and scaled by
    plain numbers looks the same but for that."""
    side = counted[0].sign
    predicted = [t for t in live if t.sign == -side and not t.scaled]
    found = [t for t in live if t.sign == side and t.scaled and graph.live_params([t.op.nid]) & consumed]
    return [t for t in found if any(own_pass(graph, t.op, p.op) for p in predicted)]


def _is_another_head(graph: Provenance, one: Op, other: Op) -> bool:
    """Two parts of one prediction, each with layers of its own behind a common body: a state's value and the
    advantage of the action (NAF). The value of the next state comes out of the same layers as the prediction, or
    out of a pass of its own."""
    own, others = graph.live_params([one.nid]), graph.live_params([other.nid])
    return bool(own - others) and bool(others - own) and _share_a_pass(graph, one, other)


def _is_log_prob(graph: Provenance, op: Op) -> bool:
    """Two log-probabilities that are to balance (a GFlowNet's forward and backward policy) are no values."""
    return "log_prob" in op.tags or is_log_softmax(graph, op)


def own_pass(graph: Provenance, one: Op, other: Op) -> bool:
    return not _share_a_pass(graph, one, other) and _says_something_of_data(graph, one)


def _share_a_pass(graph: Provenance, one: Op, other: Op) -> bool:
    return not _computed_for(graph, one).isdisjoint(_computed_for(graph, other))


def _computed_for(graph: Provenance, op: Op) -> frozenset[ValueId]:
    """What was computed on the way to a value; not the parameters."""
    return frozenset(nid for nid, made in graph.live_ancestors([op.nid]).items() if made.inputs)


def _says_something_of_data(graph: Provenance, op: Op) -> bool:
    """The value of a state depends on the state. What is made of parameters alone (a learned deviation, an
    offset) is no value, unless it is an entry chosen from a table."""
    made_of = graph.ancestors([op.nid])
    return any(
        source.name in SELECTING
        or (not source.inputs and source.kind != "parameter")
        or any(nid not in made_of for nid in source.inputs)  # forgotten: it may have been data
        for source in made_of.values()
    )


def is_log_softmax(graph: Provenance, op: Op | None) -> bool:
    op = behind_all(graph, op, SHAPING | SELECTING)
    return op is not None and op.name == "log_softmax"
