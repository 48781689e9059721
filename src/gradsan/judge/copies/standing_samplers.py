"""A copy of the policy that draws the tokens the policy learns from, and that nobody ever brings up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.objective import scores
from gradsan.judge.objective.drawn_otherwise import given_to
from gradsan.judge.objective.other_scorers import stands_still
from gradsan.judge.shapes.drawn_tokens import PREFERRING
from gradsan.record.events import Backward, Op, ParamId, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

LOOKS, UPDATES = 3, 20  # answers that were drawn anew; how long nothing may be copied


class StandingSampler(NamedTuple):
    """What the copy drew last, and whose log-probabilities of that are learned."""

    drawn: Op
    scored: Op
    copies: frozenset[ParamId]
    learned: frozenset[ParamId]


class StandingSamplers:
    """Told of losses that raise some answers and lower others, and in which the copy has no other part: a ratio to what
    it says, or a preference between its answers, knows that somebody else drew them."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._found: dict[frozenset[ParamId], StandingSampler] = {}
        self._draws: dict[frozenset[ParamId], set[ValueId]] = {}
        self._excused: set[frozenset[ParamId]] = set()

    def backward(self, event: Backward) -> None:
        graph = self._history.graph
        for look in event.facts.drawn if event.call == "backward" else ():
            scored, drawn = graph.get(look.value), graph.get(look.last)
            if scored is None or drawn is None or not (look.rises and look.falls):
                continue
            learned = frozenset(graph.live_params([scored.nid]))
            drew = frozenset(self._drew(drawn))
            if not drew or not all(stands_still(self._history, pid, set(learned)) for pid in drew):
                continue
            if self._has_another_part(event, drew):
                self._excused.add(drew)
            self._draws.setdefault(drew, set()).add(drawn.nid)
            self._found[drew] = StandingSampler(drawn, scored, drew, learned)

    def forgotten(self) -> StandingSampler | None:
        for drew, found in self._found.items():
            enough = len(self._draws[drew]) >= LOOKS and drew not in self._excused
            if enough and all(self._is_left_behind(pid, found) for pid in drew):
                return found
        return None

    def _drew(self, drawn: Op) -> set[ParamId]:
        graph = self._history.graph
        regions = [scores.scoring(graph, source) for source in given_to(graph, drawn)]
        return {pid for region in regions for pid in scores.reads(self._history, region)}

    def _has_another_part(self, event: Backward, drew: frozenset[ParamId]) -> bool:
        graph = self._history.graph
        behind = graph.ancestors([r.nid for r in event.roots], lambda user, _: not scores.chooses(user))
        prefers = any(op.name in PREFERRING for op in behind.values())
        # A log-probability that comes from outside may be what a sampler has told.
        told = any(
            not graph.value_params([side.nid])
            for op in graph.named(behind, ("sub",))
            if len(op.facts.apart) == 3
            for side in graph.inputs(op)
        )
        return prefers or told or not drew.isdisjoint(scores.reads(self._history, behind))

    def _is_left_behind(self, pid: ParamId, found: StandingSampler) -> bool:
        copy = self._history.networks.copies.get(pid)
        if copy is None or not stands_still(self._history, pid, set(found.learned)):
            return False
        return self._history.iteration - copy.iteration >= UPDATES
