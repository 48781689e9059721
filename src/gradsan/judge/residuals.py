"""Finding the temporal-difference error in a loss: prediction, reward and bootstrapped value, however
they are arranged. `(r + γ·V(s') − V(s))²` and `mse_loss(q, y)` are the same thing written in two ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gradsan.judge import flow
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ValueId

LIBRARY_LOSSES = {
    "mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss", "gaussian_nll_loss",
    "binary_cross_entropy", "binary_cross_entropy_with_logits",
}  # fmt: skip
COMBINING = {"add", "sub", "rsub"}
COMPARING = LIBRARY_LOSSES | COMBINING
STRAIGHT = flow.LINEAR | flow.JOINING
NOTHING = {"zeros", "zeros_like", "new_zeros"}  # `huber_loss(error, zeros_like(error))` compares nothing more
# These want a difference to have a sign, not to be small: preferences, discriminators.
LOGISTIC = {"sigmoid", "logsigmoid", "log_sigmoid", "softplus", "binary_cross_entropy_with_logits"}
# A sum in an exponent is a log-density or a logit: the parts of a mixture, a ratio, a weight.
EXPONENTS = {"exp", "logsumexp", "logaddexp", "softmax", "log_softmax", "softmin", "cross_entropy"}


@dataclass(slots=True)
class Residual:
    """A difference that the loss wants to be small."""

    op: Op
    terms: list[flow.Term]

    def live(self) -> list[flow.Term]:
        """The terms that gradient flows through; what stands on both sides cancels and does not count."""
        both = {t.op.nid for t in self.terms if t.sign > 0} & {t.op.nid for t in self.terms if t.sign < 0}
        return [t for t in self.terms if t.op.live and t.op.nid not in both]

    def data(self) -> list[flow.Term]:
        """Terms that bring in numbers from outside: rewards, returns, advantages."""
        return [t for t in self.terms if not t.op.live and t.op.floating]


def residuals(graph: Provenance, roots: list[ValueId]) -> list[Residual]:
    """Every difference between the loss and the networks that something non-linear is applied to. To be read, not to be
    changed: several rules ask, one after the other."""
    key = ("residuals", *roots)
    known: list[Residual] | None = graph.remembered.get(key)
    if known is None:
        known = graph.remembered[key] = list(_residuals(graph, roots))
    return known


def _residuals(graph: Provenance, roots: list[ValueId]) -> Iterator[Residual]:
    within = graph.live_ancestors(roots)
    for op in graph.named(within, COMPARING):
        if op.name in LIBRARY_LOSSES and len(op.inputs) >= 2:
            yield Residual(op, _difference(graph, op))
        elif op.name in COMBINING and not _is_summed_on(graph, op, within) and _is_bent(graph, op, within):
            yield Residual(op, flow.terms(graph, op, through_joins=True))


def _difference(graph: Provenance, op: Op) -> list[flow.Term]:
    found = []
    for sign, nid in ((1, op.inputs[0]), (-1, op.inputs[1])):
        side = graph.get(nid)
        if side is not None and side.name not in NOTHING:
            bends = sign == 1 and op.name in LOGISTIC  # to a probability: only that is compared
            parts = [flow.Term(side, 1, False, 0)] if bends else flow.terms(graph, side, through_joins=True)
            found += [flow.Term(t.op, sign * t.sign, t.scaled, t.level + 1) for t in parts]
    return found


def _is_summed_on(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> bool:
    """Whether a larger sum contains this one; then only the larger one counts."""
    onward = [within[n] for n in graph.consumers.get(op.nid, ()) if n in within]
    return bool(onward) and all(_keeps_the_sum(c) for c in onward)


def _keeps_the_sum(op: Op) -> bool:
    return (
        op.name in COMBINING
        or op.name in flow.SHAPING
        or op.name in flow.SELECTING
        or op.name in LIBRARY_LOSSES
        or op.name in flow.JOINING
    )


def _is_bent(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> bool:
    """Whether, on the way to the loss, something other than averaging and scaling is done with it. An exponential
    bends only what the loss takes as it is beside it (`exp(x) - x`)."""
    stack, seen, raised, plain = [op], set(), False, False
    while stack:
        current = stack.pop()
        if current.nid in seen:
            continue
        seen.add(current.nid)
        onward = [within[nid] for nid in graph.consumers.get(current.nid, ()) if nid in within]
        plain = plain or not onward
        for consumer in onward:
            if consumer.name in EXPONENTS:
                raised = raised or (consumer.name == "exp" and not _is_logged(graph, consumer, within))
            elif consumer.name not in LOGISTIC:
                if not _is_straight(consumer):
                    return True
                stack.append(consumer)
    return raised and plain


def _is_straight(op: Op) -> bool:
    if op.name in ("max", "amax"):  # of one value: its largest entry
        return len(op.inputs) == 1
    return op.name in STRAIGHT and not _squares(op)


def _is_logged(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> bool:
    return any(within[nid].name in ("log", "log1p") for nid in graph.descendants([op.nid], within))


def _squares(op: Op) -> bool:
    return op.name == "mul" and len(op.inputs) == 2 and op.inputs[0] == op.inputs[1]
