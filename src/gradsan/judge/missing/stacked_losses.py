"""The summands of a loss, also of one that is the mean or the sum of losses in a list: `torch.stack(losses).mean()`."""

from __future__ import annotations

from math import prod

from gradsan.judge.flow import LAID_TOGETHER, Term, terms
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, Site

MOST = 64  # losses; of a longer list the last of every line stands for the others


def summands_of(graph: Provenance, root: Op) -> list[Term]:
    """As `terms`. A list of losses is opened where one of them has a summand that teaches nothing."""
    found: list[Term] = []
    for term in terms(graph, root):
        parts = _of_a_list(graph, term)
        found += [term] if all(part.op.live for part in parts) else parts
    return found


def _of_a_list(graph: Provenance, joined: Term) -> list[Term]:
    op, by_line = joined.op, dict[tuple[Site, str], list[Op]]()
    losses = [graph.get(nid) for nid in op.inputs] if op.live and op.name in LAID_TOGETHER else []
    # What a vector has weighed are the parts of one loss.
    if joined.weighed or len(losses) < 2:
        return []
    for loss in losses:
        if loss is None or prod(loss.shape) != 1:
            return []
        by_line.setdefault((loss.site, loss.name), []).append(loss)
    # Where some of a line are live, they are what it is there for.
    alike = [[loss for loss in made if loss.live] or made for made in by_line.values()]
    chosen = [loss for made in alike for loss in (made if len(losses) <= MOST else made[-1:])]
    level = joined.level + 1
    return [
        Term(
            t.op,
            joined.sign * t.sign,
            joined.scaled or t.scaled,
            level + t.level,
            joined.factor * t.factor,
            t.weighed,
        )
        for loss in chosen
        for t in summands_of(graph, loss)
        # What is added to a score before both are weighed is a part of it (the Jacobian of a squashed action).
        if t.op.live or not t.weighed
    ]
