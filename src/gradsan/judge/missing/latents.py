"""Latents that are drawn without a gradient: a decoder learns from them, their encoder from its regulariser alone."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.flow import is_choice, is_straight_through, terms
from gradsan.judge.missing.idle_scores import idle_scores, is_judged, is_judged_apart
from gradsan.judge.provenance import Provenance, params_of
from gradsan.record.events import NOWHERE, Op, ParamId, ValueId


def drawn_latents(
    graph: Provenance, roots: list[ValueId], trained: set[ParamId]
) -> Iterator[tuple[Op, set[ParamId]]]:
    """Draws of real numbers that layers go on with, and the parameters they were drawn with, where the loss reaches
    those in no term that knows the draw (it scores it, or passes it straight through) or a target."""
    within = graph.ancestors(roots)
    for draw in within.values():
        if draw.live or not draw.floating or not is_choice(graph, draw):
            continue
        on_purpose = draw.facts.grad_off not in (NOWHERE, draw.site)  # `sample` itself switches gradients off
        if on_purpose or not graph.is_cut(draw):
            continue
        behind = graph.live_params([i.nid for i in graph.inputs(draw) if i.live]) & trained
        if not behind or not _feeds_a_layer(graph, draw, within):
            continue
        idle = idle_scores(graph, roots, draw)
        if idle and is_judged(graph, roots, draw, behind):
            yield draw, behind
        elif lost := behind - _taught(graph, draw, roots, idle):
            yield draw, lost


def judged_choices(
    graph: Provenance, roots: list[ValueId], trained: set[ParamId]
) -> Iterator[tuple[Op, set[ParamId]]]:
    """Drawn numbers (actions) that a critic judges, `alpha * log_prob(a) - q[a]`: the loss knows what the choice is
    worth, and all that reaches the policy is a score that teaches nothing on average."""
    constants = [op for op in graph.ancestors(roots).values() if not (op.live or op.floating)]
    drawn = {op.site: op for op in constants if is_choice(graph, op) and graph.is_cut(op)}
    for draw in drawn.values():  # one of each line: the steps of a rollout are alike
        behind = graph.live_params([i.nid for i in graph.inputs(draw) if i.live]) & trained
        if behind and idle_scores(graph, roots, draw) and is_judged_apart(graph, roots, draw, behind):
            yield draw, behind


def _feeds_a_layer(graph: Provenance, draw: Op, within: dict[ValueId, Op]) -> bool:
    onward = [within[nid] for nid in graph.descendants([draw.nid], within)]
    return any(params_of(i) for op in onward if op.live for i in graph.inputs(op))


def _taught(graph: Provenance, draw: Op, roots: list[ValueId], idle: list[Op]) -> set[ParamId]:
    """The parameters that some term reaches which is more than a regulariser of what was drawn from."""
    found: set[ParamId] = set()
    known, scores = _data(graph.ancestors([draw.nid])), graph.live_ancestors([op.nid for op in idle])
    for loss in filter(None, map(graph.get, roots)):
        summands = terms(graph, loss)
        through = is_straight_through(graph, summands)
        for term in summands:
            made_of = graph.ancestors([term.op.nid])
            divergence = any("kl_divergence" in op.tags for op in made_of.values())
            alone = draw.nid not in made_of and _data(made_of) <= known
            if through or not (divergence or alone or term.op.nid in scores):
                found |= graph.live_params([term.op.nid])
    return found


def _data(values: dict[ValueId, Op]) -> set[ValueId]:
    """What came from outside, single numbers left out."""
    return {nid for nid, op in values.items() if op.kind == "data" and op.shape}
