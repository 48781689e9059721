"""References that are not what they were meant to be: scored in another way than the policy, or with weights that are
trained along with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge import flow
from gradsan.judge.copies.computed_twice import RANDOM
from gradsan.judge.objective import scores
from gradsan.judge.objective.same_policy import EXACT, given
from gradsan.judge.objective.scores import Difference
from gradsan.record.events import Op, ParamId, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

LAYOUT = (flow.SHAPING | flow.SELECTING | flow.JOINING | flow.TAKEN_OUT) - {"masked_fill", "where"}
PHASE, SEEN_LATE = 8, 2  # steps that are a training of their own, and that are hardly any
NOISY = (RANDOM - flow.CHOOSING) | {"batch_norm", "instance_norm"}


class Paid(NamedTuple):
    """A distance from a reference that is taken off a reward: neither side is live. `learned`: of the policy's side."""

    difference: Difference
    learned: set[ParamId]


def paid_for(history: History, roots: list[ValueId]) -> Iterator[Paid]:
    graph = history.graph
    within = graph.ancestors(roots)
    for op in graph.named(within, ("sub",)):
        sides = [graph.get(nid) for nid in op.inputs[:2]] if len(op.facts.apart) == 3 and not op.live else []
        for policy, reference in (sides, sides[::-1]) if len(sides) == 2 else ():
            if policy is None or reference is None:
                continue
            low, high, mean = op.facts.apart
            difference = Difference(op, policy, reference, low, high, mean)
            learned = _learned_by_one(history, difference)
            # A ratio of two constants corrects for who drew the answers.
            if learned and scores.ratio_of(graph, difference, within) is None:
                yield Paid(difference, learned)


def _learned_by_one(history: History, difference: Difference) -> set[ParamId]:
    """What is trained of the side that is taken for the policy's, where the other is not the policy itself."""
    graph = history.graph
    sides = (difference.live, difference.constant)
    policy, reference = (scores.reads(history, scores.scoring(graph, side)).keys() for side in sides)
    learned = {pid for pid in policy if history.owner_of(pid)}
    owned = {pid for pid in reference if history.owner_of(pid)}
    return learned if owned <= learned and not policy <= reference else set()


def is_fresh_copy(history: History, region: dict[ValueId, Op], learned: set[ParamId]) -> bool:
    """Everything that the reference reads is a copy of the policy's, and the policy was not stepped since."""
    copies, read = history.networks.copies, scores.reads(history, region)
    if not all(pid in copies and copies[pid].source in learned for pid in read):
        return False
    never = not any(history.params[pid].epoch for pid in learned)
    return never or all(_was_made_now(history, pid) for pid in read)


def is_from_before(history: History, region: dict[ValueId, Op], learned: set[ParamId]) -> bool:
    """The reference was copied before the policy's first training, which is over: what is going to train it now takes
    its first step, and an optimizer that is not used any more has taken many."""
    copies, read = history.networks.copies, scores.reads(history, region)
    owners = [optimizer for pid in learned for optimizer in history.owner_of(pid)]
    if not read or not all(pid in copies and copies[pid].source in learned for pid in read):
        return False
    first = any(not o.steps for o in owners) and any(o.steps >= PHASE for o in owners)
    once = all(copies[pid].times == 1 and pid not in history.networks.moved for pid in read)
    return first and once and all(_was_trained_since(history, pid) for pid in read)


def is_base_from_before(history: History, difference: Difference, learned: set[ParamId]) -> bool:
    """The reference is the policy without its adapters, and these have been trained already, by an optimizer that is
    not used any more: what is going to train them now has hardly begun. (Its first step may have passed unseen.)"""
    graph = history.graph
    read = scores.reads(history, scores.scoring(graph, difference.constant)).keys()
    whole = scores.reads(history, scores.scoring(graph, difference.live)).keys()
    if not read or not read <= whole or read & learned or any(history.owner_of(pid) for pid in read):
        return False
    owners = [optimizer for pid in learned for optimizer in history.owner_of(pid)]
    begins = any(o.steps <= SEEN_LATE for o in owners) and any(o.steps >= PHASE for o in owners)
    return begins and all(history.params[pid].epoch > 0 for pid in learned)


def _was_trained_since(history: History, pid: ParamId) -> bool:
    """An exact copy of a parameter before its first step. (Steps in iterations that were only counted do not count.)"""
    copy = history.networks.copies[pid]
    exact = copy.how in EXACT and not copy.unseen and not copy.after_training and copy.epoch == 0
    return exact and history.params[copy.source].epoch > 0


def _was_made_now(history: History, pid: ParamId) -> bool:
    copy = history.networks.copies[pid]
    exact = copy.how in EXACT and not copy.unseen and pid not in history.networks.moved
    # Of iterations that were only counted, it is not known how many steps they took.
    now = copy.iteration >= history.iteration and copy.epoch == history.params[copy.source].epoch
    return exact and now


def scored_otherwise(history: History, difference: Difference) -> Op | None:
    """What only one of the two sides does to the scores of the very same choices: it divides by a temperature, leaves
    out some of them. Nothing, where chance has a part in it."""
    graph = history.graph
    sides = [scores.scoring(graph, side) for side in (difference.live, difference.constant)]
    own = sides[0].keys() ^ sides[1].keys()  # what both are given may be drawn at random
    noisy = any(_is_noisy(op) for side in sides for nid, op in side.items() if nid in own)
    if noisy or not is_of_a_choice(history, difference):
        return None
    behind = graph.ancestors([difference.live.nid])
    if not all(nid in behind for nid in given(sides[1])):
        return None
    return _only_one_has(sides, floating=True) or _only_one_has(sides, floating=False)


def _only_one_has(sides: list[dict[ValueId, Op]], floating: bool) -> Op | None:
    """Numbers first; where these are made alike, the positions and masks that they are made with."""
    done = [
        {_form(op): op for op in side.values() if op.floating == floating and _counts(op)} for side in sides
    ]
    apart = [op for one, other in (done, done[::-1]) for form, op in one.items() if form not in other]
    return max(apart, key=lambda op: op.nid, default=None)


def is_of_a_choice(history: History, difference: Difference) -> bool:
    made = scores.made(history.graph, difference.live)
    return (
        "log_prob" in made.tags
        or made.name in scores.SURPRISES
        or scores.picks_one_of_all(history.graph, made)
    )


def _is_noisy(op: Op) -> bool:
    return op.name in NOISY or (op.name in scores.DROPPING and not op.facts.idle)


def _counts(op: Op) -> bool:
    return op.kind == "operation" and op.name not in LAYOUT and not scores.chooses(op)


def _form(op: Op) -> tuple[str, tuple[float, ...], float]:
    return op.name, op.facts.scalars, op.facts.alpha


def without_adapters(history: History, difference: Difference, learned: set[ParamId]) -> set[ParamId]:
    """The reference is the policy with a part of what is trained left out, over frozen weights: what it still reads and
    the policy's steps have moved."""
    graph = history.graph
    read = scores.reads(history, scores.scoring(graph, difference.constant)).keys()
    whole = scores.reads(history, scores.scoring(graph, difference.live)).keys()
    frozen, left_out = read - learned, learned - read
    if not frozen or not left_out or not read <= whole or any(history.owner_of(pid) for pid in frozen):
        return set()
    return {pid for pid in read & learned if history.params[pid].epoch and history.owner_of(pid)}
