"""A value that goes on into the network twice, once live and once as a constant: half of its gradient is lost, and as
its parameters still learn by the other half, nothing seems to be missing."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.flow import TAKEN_OUT, is_choice, is_straight_through, terms
from gradsan.judge.provenance import Provenance, params_of
from gradsan.record.events import Op, ParamId, ValueId

Values = dict[ValueId, Op]
Found = Iterator[tuple[Op, set[ParamId]]]

JOINS = {"add", "sub", "rsub", "mul", "where"}
AFFINE = {"add", "sub", "rsub", "mul", "div", "neg", "clone", "contiguous", "to", "float"} | TAKEN_OUT
BY_ELEMENT = AFFINE | {
    "clamp", "exp", "expm1", "log", "log1p", "sigmoid", "tanh", "relu", "softplus", "elu", "leaky_relu", "abs", "pow",
    "square", "sqrt", "where", "min", "max", "minimum", "maximum", "sin", "cos", "erf", "silu", "gelu", "logsigmoid",
}  # fmt: skip
SCORING = {"log_prob", "entropy", "kl_divergence", "sample", "rsample"}


def half_cuts(graph: Provenance, roots: list[ValueId], trained: set[ParamId]) -> Found:
    live, within = graph.live_ancestors(roots), graph.ancestors(roots)
    for join in live.values():
        sides = [i for i in graph.inputs(join) if i.floating]
        if SCORING.intersection(join.tags) or len({s.live for s in sides}) < 2:
            continue
        found = _side_of_itself(graph, join) if join.name in JOINS else _rolled_out(graph, join, live, within)
        for cut in found:
            if not _goes_on(graph, join, live):
                break
            if lost := graph.live_params([i.nid for i in graph.inputs(cut) if i.live]) & trained:
                yield cut, lost


def _goes_on(graph: Provenance, op: Op, within: Values) -> bool:
    """Into a layer, or as what a distribution is made of: then it is a part of the network, not of the loss."""
    return any(
        "log_prob" in later.tags or any(map(params_of, graph.inputs(later)))
        for nid in graph.descendants([op.nid], within)
        if (later := within[nid]).nid != op.nid
    )


# -- a function made of pieces, of which one is of a constant ---------------------------------------


def _side_of_itself(graph: Provenance, join: Op) -> Iterator[Op]:
    """`x.clamp(min=0) + f(x.detach())`: element by element, both sides are made of the same value. What passes a
    gradient straight through, scales one, or lets it pass here and there, has the value itself as a constant."""
    if is_straight_through(graph, terms(graph, join)):
        return
    sides = [i for i in graph.inputs(join) if i.floating and i.shape == join.shape]
    alive = _by_element(graph, [s for s in sides if s.live])
    for side in sides:
        if side.live:
            continue
        constant = _by_element(graph, [side], past_cuts=False)
        for cut in [op for op in constant.values() if op.name in TAKEN_OUT and graph.is_cut(op)]:
            source = next(i for i in graph.inputs(cut) if i.live)
            if _by_element(graph, [source]).keys() & alive.keys() and not _keeps_value(join, constant):
                yield cut


def _by_element(graph: Provenance, ops: list[Op], past_cuts: bool = True) -> Values:
    """What these are made of, element by element."""
    shape = ops[0].shape if ops else ()

    def follow(op: Op, source: Op) -> bool:
        return op.name in BY_ELEMENT and source.shape == shape and (past_cuts or source.live == op.live)

    return graph.ancestors([op.nid for op in ops], follow)


def _keeps_value(join: Op, constant: Values) -> bool:
    names = {op.name for op in constant.values() if op.kind == "operation"}
    return names <= (TAKEN_OUT if join.name == "where" else AFFINE) and join.name != "mul"


# -- what a rollout has made, beside what is made anew ------------------------------------------------


def _rolled_out(graph: Provenance, join: Op, live: Values, within: Values) -> Iterator[Op]:
    """`cat([context, embed(token)])`: the context comes out of the block without gradients that chose the actions, and
    the same layers make the rest anew. A recurrent state goes into the layers that it came out of: it is not meant."""
    sides = [i for i in graph.inputs(join) if i.floating]
    if join.name not in ("cat", "concat", "concatenate", "hstack") or any(
        s.shape[:-1] != join.shape[:-1] for s in sides
    ):
        return
    anew = graph.live_params([s.nid for s in sides if s.live])
    for side in sides:
        made = graph.value_params([side.nid]) if not side.live else set()
        onward = [live[nid] for nid in graph.descendants([side.nid], within) if nid in live]
        if (
            not made
            or not made <= anew
            or any(made.intersection(params_of(i)) for op in onward for i in graph.inputs(op))
        ):
            continue
        cuts = [op for op in graph.ancestors([side.nid]).values() if graph.is_cut(op)]
        if cuts and all(_in_a_rollout(graph, cut, within) for cut in cuts):
            yield max(cuts, key=lambda op: op.nid)


def _in_a_rollout(graph: Provenance, cut: Op, within: Values) -> bool:
    """Whether an action was chosen by what was computed in the same block."""
    off = cut.facts.grad_off
    choices = [op.nid for op in within.values() if off and is_choice(graph, op)]
    return any(op.facts.grad_off == off for op in graph.ancestors(choices).values())
