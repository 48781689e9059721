"""Where the minus of a clipped surrogate is missing: in the bound itself, or where that is taken on to the loss."""

from __future__ import annotations

from gradsan.judge.flow import SHAPING
from gradsan.judge.history import History
from gradsan.judge.lines.callers import used_in
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, Site, ValueId

ADDING = ("add", "sub", "rsub")


def taken_on_at(history: History, bound: Op, ratio: Op, roots: list[ValueId]) -> Site:
    """The line that averages `min(ratio * A, clipped * A)` and hands it to the loss: that is where the minus belongs.
    Where a minus stands inside of the bound, it is the line of the bound."""
    graph = history.graph
    if _is_turned(graph, bound, ratio):
        return bound.site
    within, last = graph.live_ancestors(roots), bound
    while True:
        onward = [within[n] for n in dict.fromkeys(graph.consumers.get(last.nid, ())) if n in within]
        if len(onward) != 1 or (onward[0].name in ADDING and _has_others(graph, onward[0], last)):
            return used_in(history, last, bound)
        last = onward[0]


def _has_others(graph: Provenance, op: Op, own: Op) -> bool:
    return any(source.live and source.nid != own.nid for source in graph.inputs(op))


def _is_turned(graph: Provenance, bound: Op, ratio: Op) -> bool:
    """Whether a minus stands between the ratio and the bound."""
    stack, seen = [bound], {ratio.nid}
    while stack:
        op = stack.pop()
        if op.name == "neg" or (op.name in ("mul", "div") and any(x < 0 for x in op.facts.scalars)):
            return True
        for source in graph.inputs(op):
            if source.nid not in seen and source.name in SHAPING | {"neg", "mul", "div"}:
                seen.add(source.nid)
                stack.append(source)
    return False
