"""Value numbering: two values with the same number were computed in the same way from the same things."""

from __future__ import annotations

from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ParamId, ValueId

RANDOM = {
    "dropout", "bernoulli", "multinomial", "normal", "rand_like", "randn_like", "randint_like", "uniform",
    "exponential", "rrelu", "alpha_dropout", "feature_dropout", "gumbel_softmax", "poisson", "sample",
}  # fmt: skip
MAKING = {"arange", "eye", "full", "linspace", "ones", "zeros"}


def value_numbers(graph: Provenance, param_nodes: dict[ValueId, tuple[ParamId, int]]) -> ValueNumbers:
    """The same for all who ask before the graph grows: they ask about the same values."""
    known: ValueNumbers | None = graph.remembered.get("numbers")
    if known is None:
        known = graph.remembered["numbers"] = ValueNumbers(graph, param_nodes)
    return known


class ValueNumbers:
    def __init__(self, graph: Provenance, param_nodes: dict[ValueId, tuple[ParamId, int]]) -> None:
        self._graph = graph
        self._params = param_nodes
        self._numbers: dict[ValueId, int] = {}

    def of(self, op: Op) -> int:
        """Computed without recursion: graphs of recurrent networks are deep."""
        numbers, ops, stack = self._numbers, self._graph.ops, [op]
        while stack:
            current = stack[-1]
            if current.nid in numbers:
                stack.pop()
                continue
            missing = [ops[nid] for nid in current.inputs if nid not in numbers and nid in ops]
            if missing:
                stack.extend(missing)
                continue
            numbers[current.nid] = self._number(current)
            stack.pop()
        return numbers[op.nid]

    def _number(self, op: Op) -> int:
        if op.nid in self._params:
            return hash(("param", *self._params[op.nid]))
        if (op.name in RANDOM and not op.facts.idle) or not (op.inputs or op.name in MAKING):
            return _itself(op.nid)
        # An input of an earlier look may be forgotten by now; it is the same value all the same.
        sources = tuple([self._numbers.get(nid) or _itself(nid) for nid in op.inputs])
        return hash((op.name, op.shape, op.facts, sources))


def _itself(nid: ValueId) -> int:
    return hash(("value", nid))
