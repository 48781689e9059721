"""p log p, summed over the rows in place of the actions that p is normalised over, and averaged over the actions."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.flow import unshaped
from gradsan.judge.objective.expected_entropy import is_negative_entropy
from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import onward
from gradsan.record.events import Op, ValueId

SCALED = {"neg", "mul", "div"}


def entropies_of_the_rows(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[tuple[Op, Op]]:
    """The sum, and the average of what it leaves."""
    for op in graph.named(within, ("sum",)):
        product = unshaped(graph, op, {"sum", "neg"}) if op.live and len(op.facts.axes) == 1 else op
        if product is op or len(product.shape) != 2 or not is_negative_entropy(graph, product):
            continue
        normalised = _normalised_along(graph, product)
        averaged = _average(graph, op, within)
        if normalised and normalised != op.facts.axes and averaged is not None:
            yield op, averaged


def _normalised_along(graph: Provenance, product: Op) -> tuple[int, ...]:
    for side in graph.inputs(product):
        op = unshaped(graph, side, {"exp", "log"})
        if op.name in ("softmax", "log_softmax") and op.shape == product.shape:
            return op.facts.axes
    return ()


def _average(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> Op | None:
    while True:
        users = list(onward(graph, op, within))
        if len(users) != 1:
            return None
        op = users[0]
        if op.name == "mean" and not op.shape:
            return op
        if op.name not in SCALED or len([i for i in graph.inputs(op) if i.shape]) > 1:
            return None
