"""What a sampler tells of its own draws, as numbers that come back from Python: other log-probabilities than the tokens
were drawn with. A weight that divides by them corrects for a sampler that there never was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge import flow
from gradsan.judge.objective import scores
from gradsan.judge.objective.drawn_otherwise import FAR, ON_AVERAGE, PLACES
from gradsan.record.events import Backward, Op, Site, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

NEAR = 0.02  # in log-probability: the policy scores the tokens as they were drawn
HANDED_ON = flow.SHAPING | flow.SELECTING | flow.TAKEN_OUT
TO_A_RATIO = flow.SHAPING | flow.REDUCING | {"clamp", "mul"}
LOOKS = 2


class Told(NamedTuple):
    arrived: Op
    difference: Op
    ratio: Op


class ToldScores:
    def __init__(self, history: History) -> None:
        self._history = history
        self._seen: dict[Site, set[ValueId]] = {}

    def judge(self, event: Backward) -> Iterator[Told]:
        graph = self._history.graph
        if not any(look.own >= PLACES and _is_as_drawn(look.apart) for look in event.facts.drawn):
            return
        within = graph.ancestors(root.nid for root in event.roots)
        for op in graph.named(within, ("sub",)):
            sides = list(graph.inputs(op))
            told = flow.unshaped(graph, sides[1], HANDED_ON) if len(sides) == 2 else op
            if not _is_otherwise(told.facts.told):
                continue
            said = scores.reads(self._history, scores.scoring(graph, sides[0]))
            users = flow.users_through(graph, op, within, TO_A_RATIO)
            ratio = next((user for user in users if user.name == "exp"), None)
            if said and ratio is not None:
                seen = self._seen.setdefault(told.site, set())
                seen.add(told.nid)
                if len(seen) >= LOOKS:
                    yield Told(told, op, ratio)


def _is_as_drawn(apart: tuple[float, ...]) -> bool:
    return len(apart) == 3 and max(-apart[0], apart[1]) < NEAR


def _is_otherwise(told: tuple[float, ...]) -> bool:
    return len(told) == 3 and max(-told[0], told[1]) >= FAR and told[2] >= ON_AVERAGE
