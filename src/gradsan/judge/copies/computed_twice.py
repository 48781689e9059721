"""Two names for one network, seen in what they say: the log-probabilities of the same choices, computed twice with the
same weights, where one was to be the policy's and the other a reference's.

The difference of the two is zero by construction. A copy has parameters of its own, a model without its adapter takes
other ways, and after a step the weights are other values: none of these is the same computation. (Where gradients were
switched off does not matter here, as it does to `numbering`.) A copy that was brought up to date before is the network
itself, too, where the two are subtracted from each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.flow import CHOOSING
from gradsan.judge.numbering import MAKING
from gradsan.judge.objective import scores
from gradsan.judge.objective.weighed import FROM_LOG_PROB, LOGARITHMS
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ParamId, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

MOST = 4_000  # operations of one pass
RANDOM = CHOOSING | {
    "rand",
    "randn",
    "rand_like",
    "randn_like",
    "uniform",
    "exponential",
    "rrelu",
    "gumbel_softmax",
}


class Twice(NamedTuple):
    """`pids`: the policy's, where both were computed alike; none where they were not."""

    reference: Op
    divergence: Op  # where the reference is subtracted
    pids: set[ParamId]
    read: set[ParamId]  # with those of a copy


def scored_twice(history: History, roots: list[ValueId]) -> Iterator[Twice]:
    """Constants of a loss that are subtracted from one another, or from one learned log-probability: for its ratio the
    one, for its penalty the other."""
    graph = history.graph
    for op in graph.named(graph.ancestors(roots), ("sub",)):
        sides = list(graph.inputs(op))
        if not op.live and len(sides) == 2:
            yield from _twice(history, sides[1], sides[0], op, synced=True)
    within, met = graph.live_ancestors(roots), list(scores.differences(graph, roots))
    ratios = [d for d in met if scores.ratio_of(graph, d, within) is not None]
    for penalty in met:
        for ratio in ratios if penalty not in ratios else []:
            if ratio.live.nid == penalty.live.nid:
                yield from _twice(history, penalty.constant, ratio.constant, penalty.op)


def _twice(
    history: History, reference: Op, policy: Op, divergence: Op, synced: bool = False
) -> Iterator[Twice]:
    graph = history.graph
    if reference.nid == policy.nid or not _are_alike(reference, policy):
        return
    if not (_is_log_prob(graph, reference) and _is_log_prob(graph, policy)):
        return
    if scores.made(graph, reference).nid == scores.made(graph, policy).nid:
        return  # `old[rows]`, picked twice
    read = set[ParamId]()
    if is_same(history, reference, policy, synced):
        passes = [scores.scoring(graph, side) for side in (reference, policy)]
        read = {pid for region in passes for pid in scores.reads(history, region)}
    yield Twice(reference, divergence, {pid for pid in read if history.owner_of(pid)}, read)


def _is_log_prob(graph: Provenance, op: Op) -> bool:
    """Of what was chosen, perhaps masked and summed over the tokens of an answer."""
    made = graph.ancestors(
        [op.nid], lambda user, _: user.name in FROM_LOG_PROB and "log_prob" not in user.tags
    )
    return any("log_prob" in o.tags or o.name in LOGARITHMS - {"log"} for o in made.values())


def is_same(history: History, one: Op, other: Op, synced: bool) -> bool:
    """Whether two values were computed alike from the very same ones, without chance."""
    graph, stack, seen = history.graph, [(one.nid, other.nid)], set[tuple[ValueId, ValueId]]()
    while stack:
        pair = stack.pop()
        if pair[0] == pair[1] or pair in seen or (synced and _are_synced(history, *pair)):
            continue
        seen.add(pair)
        ours, theirs = graph.get(pair[0]), graph.get(pair[1])
        if ours is None or theirs is None or len(seen) > MOST or not _are_alike(ours, theirs):
            return False
        stack += zip(ours.inputs, theirs.inputs, strict=True)
    return True


def _are_synced(history: History, one: ValueId, other: ValueId) -> bool:
    """A parameter and its copy, which was written after the last step before both were read."""
    read = [history.param_nodes.get(nid) for nid in (one, other)]
    for copied, source in (read, read[::-1]):
        copy = history.networks.copies.get(copied[0]) if copied is not None else None
        if copy is not None and source is not None and (copy.source, copy.epoch) == source:
            return True
    return False


def _are_alike(one: Op, other: Op) -> bool:
    chance = (
        one.name in RANDOM or (one.name in scores.DROPPING and not one.facts.idle) or "sample" in one.tags
    )
    form = (one.name, one.shape, len(one.inputs), one.facts.settings, one.facts.scalars, one.facts.part)
    theirs = (
        other.name,
        other.shape,
        len(other.inputs),
        other.facts.settings,
        other.facts.scalars,
        other.facts.part,
    )
    known = bool(one.inputs) or one.name in MAKING
    return one.kind == other.kind == "operation" and known and not chance and form == theirs
