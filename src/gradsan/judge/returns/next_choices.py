"""The best next action of double Q-learning, chosen at the state that the prediction is about, not at the next one.

Both are asked of networks that were shown the same data, or other data; and of what is said of a whole episode a part
is taken. So what a value is about is known by what was shown and which part was taken, whatever it holds."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from gradsan.judge.flow import SHAPING, TAKEN_OUT
from gradsan.judge.history import History
from gradsan.judge.objective.chosen_values import PICKING, shown_to
from gradsan.judge.objective.weighed import DIFFERENCES
from gradsan.judge.provenance import Provenance
from gradsan.judge.report.wording import line, value_at
from gradsan.judge.returns.bootstraps import adds_other_values
from gradsan.judge.returns.misaligned import Memory, Misaligned
from gradsan.record.events import Backward, Op, Site, ValueId

CHOOSING = {"argmax", "max", "topk", "sort", "argsort"}
TAKING_PARTS = {"getitem", "narrow", "select", "chunk", "split", "unbind"}
KEPT = SHAPING | TAKEN_OUT | {"alias", "setitem", "masked_fill", "index_put", "where"}
INDEX = SHAPING | TAKEN_OUT | TAKING_PARTS | {"alias"}
EMPTY = {"zeros", "zeros_like", "new_zeros", "ones", "ones_like", "new_ones", "eye", "arange", "full"}
Part = tuple[str, int, int, tuple[ValueId, ...]]


class About(NamedTuple):
    """What the networks behind a value were shown, and which parts of what they said it is."""

    shown: frozenset[ValueId]
    parts: tuple[Part, ...]


class NextChoice(NamedTuple):
    """`picked`: the next values, by what was `chosen` at another state; `error` compares them with a prediction."""

    picked: Op
    chosen: Op
    error: Op
    target: Site


class NextChoices:
    def __init__(self, history: History, memory: Memory) -> None:
        self._history, self._memory = history, memory

    def found_in(self, event: Backward) -> Iterator[Misaligned]:
        history = self._history
        for found in next_choices(history, event):
            if self._memory.is_enough(found.picked.nid, found.chosen.site):
                site = found.chosen.site
                yield Misaligned(
                    site,
                    f"the next value that {line(history, found.picked.site)} picks is that of "
                    f"{value_at(history, site, 'the action')}, which is the best one of the state that the prediction "
                    "is about: the best action of one state picks the value of another",
                    [("chosen", site), ("picked", found.picked.site), ("target", found.target),
                     ("loss", found.error.site), ("backward", event.site)],
                    fix="choose it where it is valued: `online(next_obs).argmax(1)`, `q[:, 1:].argmax(-1)`",
                )  # fmt: skip


def compared_in(graph: Provenance, event: Backward) -> Iterator[tuple[Op, Op, Op]]:
    """What compares a live prediction and a target, and both of them."""
    for error in graph.named(graph.live_ancestors(root.nid for root in event.roots), DIFFERENCES):
        sides = [side for nid in error.inputs[:2] if (side := graph.get(nid)) is not None]
        live, target = [s for s in sides if s.live], [s for s in sides if not s.live]
        if len(live) == len(target) == 1:
            yield error, live[0], target[0]


def next_choices(history: History, event: Backward) -> Iterator[NextChoice]:
    graph = history.graph
    for error, live, target in compared_in(graph, event):
        picked = list(_picked_by_choice(graph, target))
        own = {_about(graph, values) for values in _picked_by_data(graph, live)} if picked else set()
        if len(own) != 1 or adds_other_values(history, target):
            continue
        for op, values, index, chosen in picked:
            if _is_of_another_state(own, _about(graph, values), _about_choice(graph, index, chosen)):
                yield NextChoice(op, chosen, error, target.site)


def _is_of_another_state(own: set[About], valued: About, chosen: About) -> bool:
    """Where both what was shown and the part are others, nobody knows."""
    one = next(iter(own))
    other_data, other_part = valued.shown != one.shown, valued.parts != one.parts
    return chosen == one and bool(one.shown and valued.shown) and other_data != other_part


def _picked_by_data(graph: Provenance, live: Op) -> Iterator[Op]:
    """Values of the actions that were taken."""
    for op in graph.named(graph.live_ancestors([live.nid]), PICKING):
        values, index = _sides(graph, op)
        if values is not None and index is not None and _choice_behind(graph, index) is None:
            yield values


def _picked_by_choice(graph: Provenance, target: Op) -> Iterator[tuple[Op, Op, Op, Op]]:
    for op in graph.named(graph.ancestors([target.nid]), PICKING):
        values, index = _sides(graph, op)
        if values is None or index is None or not graph.value_params([values.nid]):
            continue
        if (chosen := _choice_behind(graph, index)) is not None:
            yield op, values, index, chosen


def _choice_behind(graph: Provenance, index: Op) -> Op | None:
    """The best of what a network said just now; what was stored, or mixed with others, is data."""
    op = index
    while op.name in INDEX and (source := next(graph.inputs(op), None)) is not None:
        op = source
    return op if op.name in CHOOSING and graph.value_params([op.nid]) else None


def _sides(graph: Provenance, op: Op) -> tuple[Op | None, Op | None]:
    inputs = list(graph.inputs(op))
    values = next((side for side in inputs if side.floating), None)
    return values, next((side for side in inputs if not side.floating), None)


def _about_choice(graph: Provenance, index: Op, chosen: Op) -> About:
    parts = tuple(_parts(graph, index, chosen)[0])
    values = next(graph.inputs(chosen), None)
    own = _about(graph, values) if values is not None else About(frozenset(), ())
    return About(own.shown, parts + own.parts)


def _about(graph: Provenance, op: Op) -> About:
    parts, root = _parts(graph, op, None)
    shown = {nid for nid in shown_to(graph, root) if (data := graph.get(nid)) and data.name not in EMPTY}
    return About(frozenset(shown), tuple(parts))


def _parts(graph: Provenance, op: Op, end: Op | None) -> tuple[list[Part], Op]:
    """What was taken of what, back to where it was said."""
    found: list[Part] = []
    while (end is None or op.nid != end.nid) and op.name in KEPT | TAKING_PARTS:
        source = next(graph.inputs(op), op)
        if op.name in TAKING_PARTS and (len(op.inputs) > 1 or prod(source.shape) != prod(op.shape)):
            found.append((op.name, op.facts.settings, op.facts.part, op.inputs[1:]))
        learned = [side for side in graph.inputs(op) if graph.value_params([side.nid])]
        if len(learned) != 1:
            break
        op = learned[0]
    return found, op
