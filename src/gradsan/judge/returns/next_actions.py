"""The next action of an actor, asked for at the state that was left: the critic is shown the next state beside what the
actor does at the one before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.history import History
from gradsan.judge.objective.chosen_values import before_picking
from gradsan.judge.provenance import Provenance
from gradsan.judge.report.wording import line, value_at
from gradsan.judge.returns.misaligned import Memory, Misaligned
from gradsan.judge.returns.next_choices import compared_in
from gradsan.judge.returns.unmasked_parts import STORED, is_learned
from gradsan.record.events import Backward, Op, Site, ValueId


class NextAction(NamedTuple):
    """`shown`: the next state and the `action` of another; `error` compares what is said of them with a prediction."""

    action: Op
    shown: Op
    error: Op
    target: Site


class NextActions:
    def __init__(self, history: History, memory: Memory) -> None:
        self._history, self._memory = history, memory

    def found_in(self, event: Backward) -> Iterator[Misaligned]:
        for found in next_actions(self._history.graph, event):
            if self._memory.is_enough(found.shown.nid, found.action.site):
                site, shown = found.action.site, line(self._history, found.shown.site)
                yield Misaligned(
                    site,
                    f"{shown} puts {value_at(self._history, site, 'the action')} beside the next state, and it was "
                    "asked for at the state that the prediction is about: what is done in one state is valued in "
                    "another",
                    [("action", site), ("shown to the critic", found.shown.site), ("target", found.target),
                     ("loss", found.error.site), ("backward", event.site)],
                    fix="ask for it where it is valued: `actor(next_obs)`",
                )  # fmt: skip


def next_actions(graph: Provenance, event: Backward) -> Iterator[NextAction]:
    for error, live, target in compared_in(graph, event):
        shown = [op for op in graph.named(graph.ancestors([target.nid]), ("cat",)) if is_learned(graph, op)]
        predicted = list(_shown_to(graph, live)) if shown else []
        for op in shown:
            actions = {action.nid: action for own in predicted if (action := _of_other_state(graph, op, own))}
            for action in actions.values():
                yield NextAction(action, op, error, target.site)


def _shown_to(graph: Provenance, live: Op) -> Iterator[Op]:
    """What was put together of data alone, a state and the action that was taken there."""
    layers = graph.live_ancestors([live.nid]).values()
    given = {i.nid: i for layer in layers for i in graph.inputs(layer) if i.name == "cat" and not i.live}
    yield from (op for op in given.values() if not is_learned(graph, op))


def _of_other_state(graph: Provenance, shown: Op, own: Op) -> Op | None:
    """The one part that a network made, in the place of the action, where all that it was asked about is the state
    that lies in the other places of the prediction, and none of that is here."""
    parts, taken = list(graph.inputs(shown)), list(graph.inputs(own))
    if [part.shape for part in parts] != [part.shape for part in taken] or len(parts) != len(shown.inputs):
        return None
    learned = [at for at, part in enumerate(parts) if is_learned(graph, part)]
    if len(learned) != 1:
        return None
    states = {before_picking(graph, part).nid for at, part in enumerate(parts) if at not in learned}
    left = {before_picking(graph, part).nid for at, part in enumerate(taken) if at not in learned}
    asked = _asked_about(graph, parts[learned[0]])
    return parts[learned[0]] if asked and asked <= left and states.isdisjoint(left) else None


def _asked_about(graph: Provenance, action: Op) -> set[ValueId]:
    behind = graph.ancestors([action.nid], lambda user, _: user.name not in STORED)
    layers = [op for op in behind.values() if any(i.kind == "parameter" for i in graph.inputs(op))]
    given = [i for op in layers for i in graph.inputs(op) if i.kind != "parameter"]
    return {before_picking(graph, i).nid for i in given if not is_learned(graph, i)}
