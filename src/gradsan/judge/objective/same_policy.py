"""Whether two log-probabilities are the same policy's: of the same choices, for the same data, by the same weights.

A copy that was brought up to date since the last step holds the policy's weights. In which order rows are picked is no
part of what is scored: where only one side picks them, it is the rows that got mixed up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradsan.judge import flow
from gradsan.judge.numbering import MAKING
from gradsan.judge.objective import scores
from gradsan.judge.objective.same_steps import are_of_the_same_steps
from gradsan.judge.objective.scores import Difference
from gradsan.judge.objective.told_by_itself import are_told_one_by_one
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ParamId, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

EXACT = {"load_state_dict", "deepcopy"}
NORMALISING = flow.SHAPING | {"softmax", "log_softmax", "exp", "log"}
CAST = flow.SHAPING | flow.SELECTING | {"clamp"}


def is_of_the_same(history: History, difference: Difference) -> bool:
    graph = history.graph
    old_region = _without_picks(graph, difference.constant)
    new_region = scores.scoring(graph, difference.live)
    old, new = scores.reads(history, old_region), scores.reads(history, new_region)
    if not new or not _are_the_same_weights(history, old, new):
        return False
    if any(op.kind == "foreign" for op in (*old_region.values(), *new_region.values())):
        return False
    if any(graph.get(nid) is None for op in old_region.values() for nid in op.inputs):
        return False  # not all of it was seen
    behind = graph.ancestors([difference.live.nid])
    lost = [graph.ops[nid] for nid in given(old_region) if nid not in behind]
    if not lost or are_told_one_by_one(history, difference.constant):
        return True
    return are_of_the_same_steps(history, lost, old_region, behind)


def have_the_same_weights(history: History, old: dict[ValueId, Op], new: dict[ValueId, Op]) -> bool:
    """Whether two regions were computed by one policy, without a step between them."""
    reads = scores.reads(history, new)
    foreign = any(op.kind == "foreign" for op in (*old.values(), *new.values()))
    return bool(reads) and not foreign and _are_the_same_weights(history, scores.reads(history, old), reads)


def _are_the_same_weights(
    history: History, old: dict[ParamId, set[ValueId]], new: dict[ParamId, set[ValueId]]
) -> bool:
    if any(len(values) != 1 for values in (*old.values(), *new.values())):
        return False
    if old == new:
        return True
    copied = {pid: _up_to_date(history, pid, new) for pid in old}
    return set(copied.values()) == set(new)


def _up_to_date(history: History, pid: ParamId, new: dict[ParamId, set[ValueId]]) -> ParamId | None:
    """What this is an exact copy of, made since the last step."""
    copy = history.networks.copies.get(pid)
    if copy is None or copy.how not in EXACT or copy.source not in new or pid in history.networks.moved:
        return None
    read = history.param_nodes[next(iter(new[copy.source]))]
    fresh = copy.iteration >= history.iteration and not copy.unseen
    return copy.source if fresh and read == (copy.source, copy.epoch) else None


def _without_picks(graph: Provenance, op: Op) -> dict[ValueId, Op]:
    """What a log-probability was computed from, but for which rows were picked, and up to the choice it scores."""

    def follow(user: Op, source: Op) -> bool:
        return not scores.chooses(user) and not (source.nid != user.inputs[0] and picks_rows(graph, user))

    return graph.ancestors([op.nid], follow)


def picks_rows(graph: Provenance, op: Op) -> bool:
    """`x[rows]`: every row that is picked stays as it is."""
    if op.name not in ("getitem", "index_select") or len(op.inputs) != 2:
        return False
    source, index = graph.get(op.inputs[0]), graph.get(op.inputs[1])
    if source is None or index is None or index.floating or len(index.shape) != 1 or not source.shape:
        return False
    same = source.shape[1:] == op.shape[1:] and len(op.shape) == len(source.shape)
    return same and not scores.picks_one_of_all(graph, op)


def given(region: dict[ValueId, Op]) -> list[ValueId]:
    """The choices and the data that a log-probability was computed for."""
    choices = [nid for nid, op in region.items() if scores.chooses(op)]
    data = [
        nid
        for nid, op in region.items()
        if not op.inputs and op.kind != "parameter" and op.name not in MAKING | {"empty"}
    ]
    return [*choices, *data]


def constant_differences(graph: Provenance, roots: list[ValueId]) -> Iterator[Difference]:
    """Of a weight that is made of two constants, the log-probabilities that it compares."""
    within = graph.ancestors(roots)
    for op in graph.named(within, ("sub",)):
        sides = [graph.get(nid) for nid in op.inputs[:2]] if len(op.facts.apart) == 3 and not op.live else []
        if len(sides) == 2 and sides[0] is not None and sides[1] is not None:
            low, high, mean = op.facts.apart
            difference = Difference(op, sides[0], sides[1], low, high, mean)
            ratio = scores.ratio_of(graph, difference, within)
            if ratio is not None and _weighs(graph, ratio, within):
                yield difference


def _weighs(graph: Provenance, ratio: Op, within: dict[ValueId, Op]) -> bool:
    users = flow.users_through(graph, ratio, within, CAST | {"mul"})
    return any(user.live and user.name == "mul" for user in users)


def is_drawn_otherwise(graph: Provenance, scored: Op) -> bool:
    """Whether the choices were drawn from what was made of these very scores (cooled, cut off), and not from them."""
    region = scores.scoring(graph, scored)
    drawn = [_normalised(graph, source) for op in region.values() if (source := _drawn_from(graph, op))]
    picks = [op for op in region.values() if scores.picks_one_of_all(graph, op)]
    said = [_normalised(graph, next(graph.inputs(op))) for op in picks]
    if not drawn or not said or {op.nid for op in said} & {op.nid for op in drawn}:
        return False
    behind = [graph.ancestors([op.nid], lambda user, _: not scores.chooses(user)) for op in drawn]
    return all(any(op.nid in made_of for made_of in behind) for op in said)


def _drawn_from(graph: Provenance, op: Op) -> Op | None:
    """The probabilities that a choice was drawn from, behind what a distribution does to it afterwards."""
    if op.name != "multinomial" and "sample" not in op.tags:
        return None
    source: Op | None = op
    while source is not None and not source.floating:
        source = next(graph.inputs(source), None)
    return source


def _normalised(graph: Provenance, op: Op) -> Op:
    """The logits behind a softmax, or behind what a distribution makes of them."""
    while True:
        sources = list(graph.inputs(op))
        subtracts = op.name == "sub" and len(sources) == 2 and sources[1].name == "logsumexp"
        if not sources or not (subtracts or op.name in NORMALISING | flow.SELECTING):
            return op
        op = sources[0]


def left_in_another_order(graph: Provenance, difference: Difference) -> tuple[Op, Op] | None:
    """Rows that only the old side picks in an order of its own: that pick, and what put them together again last."""
    behind = graph.ancestors([difference.live.nid])
    region = _without_picks(graph, difference.constant)
    picks = [op for op in region.values() if picks_rows(graph, op) and op.inputs[1] not in behind]
    if not picks:
        return None
    pick = max(picks, key=lambda op: op.nid)
    joins = [op for op in region.values() if op.name in ("cat", "stack") and op.nid > pick.nid]
    return pick, max(joins, key=lambda op: op.nid, default=pick)


def cut_out_otherwise(graph: Provenance, difference: Difference) -> Op | None:
    """`old[start:end]`, where the other side picks its rows by numbers, from as many."""
    behind, constant = graph.ancestors([difference.constant.nid]), difference.constant
    picks = [op for op in scores.scoring(graph, difference.live).values() if picks_rows(graph, op)]
    forms = {(graph.ops[op.inputs[0]].shape[0], op.shape[0]) for op in picks if op.inputs[1] not in behind}
    while len(constant.inputs) == 1 and constant.name in CAST | flow.TAKEN_OUT and constant.shape:
        source = graph.get(constant.inputs[0])
        if source is None or not source.shape:
            return None
        if constant.name in flow.SELECTING and (source.shape[0], constant.shape[0]) in forms:
            return constant
        constant = source
    return None


def written_once_more(graph: Provenance, difference: Difference) -> Op | None:
    """What one side's scores were written over with, where they lie, and the other's were not."""
    chains = [_writes(graph, side) for side in (difference.live, difference.constant)]
    longer, shorter = sorted(chains, key=len, reverse=True)
    return longer[-1] if len(longer) > len(shorter) else None


def _writes(graph: Provenance, side: Op) -> list[Op]:
    """Into the logits themselves: the newest first, each over the last."""
    made = scores.made(graph, side)
    picked = next(graph.inputs(made), made) if made.name in scores.SCORING else made
    op: Op | None = _normalised(graph, picked)
    chain: list[Op] = []
    while op is not None and op.facts.in_place:
        chain.append(op)
        op = next(graph.inputs(op), None)
    return chain
