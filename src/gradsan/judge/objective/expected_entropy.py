"""Entropies and values inside an expectation, as in discrete SAC: `(p * (alpha * log p - q)).sum(-1)`.

The product p log p is nowhere by itself, and q is a constant, so no probe can stand on either. Their signs are told by
algebra: among the summands which p weighs, and that of the product in the loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.flow import SHAPING, TAKEN_OUT, behind_all, terms, unshaped
from gradsan.judge.history import History
from gradsan.judge.objective.score_functions import sign_in_loss
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ParamId, ValueId


class ExpectedEntropy(NamedTuple):
    """`product` weighs log p with p; `sign`: of the loss's derivative by the entropy. `squared`: it weighs log p times
    log p, which is large where log p is low: what would raise the entropy lowers it."""

    product: Op
    sign: int
    squared: bool


def expected_entropies(history: History, roots: list[ValueId]) -> Iterator[ExpectedEntropy]:
    graph = history.graph
    for op in graph.live_ancestors(roots).values():
        sides = list(graph.inputs(op)) if op.name == "mul" else []
        if len(sides) != 2 or not all(side.live for side in sides):
            continue
        for policy, weighed in (sides, sides[::-1]):
            logits = _logits(graph, policy)
            for squared in (False, True) if logits else ():
                if logits and (sign := _sign_of_log(history, weighed, logits, squared)):
                    yield ExpectedEntropy(op, -sign * sign_in_loss(history, op.nid, roots), squared)


def expected_values(
    history: History, roots: list[ValueId], critics: set[ParamId]
) -> Iterator[tuple[Op, Op, int]]:
    """The products of a policy's probabilities with constants, the values of these critics among them, and the sign of
    the loss's derivative by these."""
    graph = history.graph
    for op in graph.live_ancestors(roots).values():
        sides = list(graph.inputs(op)) if op.name == "mul" else []
        for policy, weighed in (sides, sides[::-1]) if len(sides) == 2 else ():
            if not policy.live or _logits(graph, policy) is None:
                continue
            for term in terms(graph, weighed, reshape=False):
                if not term.op.live and graph.value_params([term.op.nid]) & critics:
                    yield op, term.op, term.sign * sign_in_loss(history, op.nid, roots)


def is_negative_entropy(graph: Provenance, op: Op) -> bool:
    """`p * log p`, before it is summed over the actions."""
    sides = list(graph.inputs(op)) if op.name == "mul" else []
    return len(sides) == 2 and any(
        (logits := _logits(graph, one)) is not None and _is_log_of(graph, other, logits)
        for one, other in (sides, sides[::-1])
    )


def is_probability(graph: Provenance, op: Op) -> bool:
    """Whether it holds the probabilities of all actions, with a graph or without."""
    return _logits(graph, unshaped(graph, op, SHAPING | TAKEN_OUT)) is not None


def _logits(graph: Provenance, op: Op | None) -> ValueId | None:
    """What these are the probabilities of."""
    op = behind_all(graph, op, SHAPING)
    if op is not None and op.name == "exp":
        op = next(graph.inputs(op), None)
        return op.inputs[0] if op is not None and op.name == "log_softmax" else None
    return op.inputs[0] if op is not None and op.name == "softmax" else None


def _sign_of_log(history: History, weighed: Op, logits: ValueId, squared: bool) -> int:
    """Of log p (or of its square, turned round) among summands that a critic's values are among, too: what is weighed
    by all actions' probabilities."""
    graph, signs, judged = history.graph, set[int](), False
    for term in terms(graph, weighed, reshape=False):
        if not term.op.live:
            judged = judged or bool(graph.value_params([term.op.nid]))
        elif (
            sign := _sign_of_square(graph, term.op, logits) if squared else _is_log_of(graph, term.op, logits)
        ):
            signs.add(-term.sign * sign if squared else term.sign)
    return signs.pop() if judged and len(signs) == 1 else 0


def _sign_of_square(graph: Provenance, op: Op, logits: ValueId) -> int:
    """Of `alpha * log p * log p`; 0 where it is something else."""
    sides = list(graph.inputs(op))
    if op.name == "square" or (op.name == "pow" and op.facts.scalars == (2.0,)):
        sides *= 2
    elif op.name != "mul":
        return 0
    factors = [terms(graph, side, reshape=False) for side in sides]
    logs = [own[0] for own in factors if len(own) == 1 and _is_log_of(graph, own[0].op, logits)]
    return logs[0].sign * logs[1].sign if len(sides) == len(logs) == 2 else 0


def _is_log_of(graph: Provenance, op: Op, logits: ValueId) -> bool:
    if op.name == "log":
        return any(_logits(graph, source) == logits for source in _behind_floor(graph, op))
    return op.name == "log_softmax" and op.inputs[:1] == (logits,)


def _behind_floor(graph: Provenance, op: Op) -> Iterator[Op]:
    """`log(p + 1e-8)`, `log(p.clamp(min=1e-8))`."""
    for source in graph.inputs(op):
        yield source
        if source.name in ("add", "clamp"):
            yield from graph.inputs(source)
