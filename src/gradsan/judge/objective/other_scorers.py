"""Old log-probabilities that are another's: the policy has drawn the choices itself, and what its ratio divides by was
said by a copy that stays where it is (the reference of a penalty)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.judge.objective import scores
from gradsan.judge.objective.drawn_otherwise import given_to
from gradsan.judge.objective.scores import Difference
from gradsan.record.events import Op, ParamId

if TYPE_CHECKING:
    from gradsan.judge.history import History
    from gradsan.judge.provenance import Provenance


def is_scored_by_another(history: History, difference: Difference) -> bool:
    graph = history.graph
    region = scores.scoring(graph, difference.constant)
    learned = graph.live_params([difference.live.nid])
    said = scores.reads(history, region)
    draws = [op for op in region.values() if scores.chooses(op)]
    if not said or not all(stands_still(history, pid, learned) for pid in said):
        return False
    passes = [scores.scoring(graph, source) for draw in draws for source in _drawn_from(graph, draw)]
    drew = {pid for found in passes for pid in scores.reads(history, found)}  # prompts are drawn by nobody
    return bool(drew) and drew <= learned


def _drawn_from(graph: Provenance, draw: Op) -> list[Op]:
    """What the last draw behind this one was made from: a distribution reshapes what it has drawn."""
    while (source := next(graph.inputs(draw), None)) is not None and not source.floating:
        draw = source
    return given_to(graph, draw)


def stands_still(history: History, pid: ParamId, learned: set[ParamId]) -> bool:
    """A copy that was made once, of what has been stepped since."""
    copy = history.networks.copies.get(pid)
    if copy is None or copy.source not in learned or copy.times > 1 or copy.unseen:
        return False
    written = pid in history.networks.moved or bool(history.owner_of(pid))
    return not written and history.params[copy.source].epoch > copy.epoch
