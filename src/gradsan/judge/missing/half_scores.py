"""The density of a squashed sample is a score minus a correction of the same sample. Where the sample carries gradient,
both do; one that was taken out of its graph leaves a log-probability that is wrong and seems to be live."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.flow import REDUCING, SHAPING, TAKEN_OUT
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ParamId, ValueId

JOINS = {"add", "sub", "rsub"}


def half_scores(
    graph: Provenance, roots: list[ValueId], trained: set[ParamId]
) -> Iterator[tuple[Op, set[ParamId]]]:
    """`normal.log_prob(raw).data - torch.log(1 - action**2)`, with `raw` from `rsample`."""
    for join in graph.named(graph.live_ancestors(roots), JOINS):
        sides = [i for i in graph.inputs(join) if i.floating]
        dead, live = [s for s in sides if not s.live], [s for s in sides if s.live]
        cut = _taken_out(graph, dead[0]) if len(dead) == len(live) == 1 else None
        source = next((i for i in graph.inputs(cut) if i.live), None) if cut is not None else None
        if cut is None or source is None or "log_prob" not in source.tags:
            continue
        lost = graph.live_params([source.nid]) & trained
        if lost and _corrects(graph, source, live[0]):
            yield cut, lost


def _taken_out(graph: Provenance, op: Op) -> Op | None:
    while op.name in SHAPING | REDUCING and (given := next(graph.inputs(op), None)) is not None:
        op = given
    return op if op.name in TAKEN_OUT else None


def _corrects(graph: Provenance, score: Op, live: Op) -> bool:
    """Whether it is made of the very sample that was scored, and scores nothing itself."""
    scored, behind = graph.live_ancestors([score.nid]), graph.live_ancestors([live.nid])
    drawn = {nid for nid, op in scored.items() if "rsample" in op.tags}
    return bool(drawn & behind.keys()) and not any("log_prob" in op.tags for op in behind.values())
