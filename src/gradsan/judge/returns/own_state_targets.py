"""`reward + discount * V(s)` where the value of the next state belongs: the target asks the network about the very
observations that the prediction is made from, and about no others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.experience import Row
from gradsan.judge.flow import JOINING, SELECTING, terms
from gradsan.judge.history import History
from gradsan.judge.objective.weighed import DIFFERENCES, Met, met_in
from gradsan.judge.returns.bootstraps import are_rewards, summed_rewards
from gradsan.judge.returns.misaligned import ENOUGH_UPDATES, Memory, Misaligned, return_that
from gradsan.record.events import Backward, Op, ParamId, Site, ValueId

FEWEST = 8  # rows that go on
OWN_STATE = "takes, at each of {steps} steps, the value of its own state where that of the next one belongs"
# What may give a row what another row was computed from.
MIXING = (JOINING | SELECTING | {"flip", "repeat", "tile", "cumsum", "sort", "argsort"}) - {"gather", "where"}


class OwnState(NamedTuple):
    met: Met
    site: Site
    rows: int


class OwnStateTargets:
    def __init__(self, history: History, memory: Memory) -> None:
        self._history, self._memory = history, memory

    def found_in(self, event: Backward) -> Iterator[Misaligned]:
        for found in own_states_in(self._history, event):
            seen = self._memory.at(found.site, found.met)
            seen.from_itself += 1
            if seen.from_itself >= ENOUGH_UPDATES:
                text = OWN_STATE.format(steps=found.rows)
                yield return_that(self._history, event, found.met, found.site, text)


def own_states_in(history: History, event: Backward) -> Iterator[OwnState]:
    book = history.experience
    for met in met_in(history, event):
        if met.op.name not in DIFFERENCES or met.constant is None:
            continue
        rows = book.rows_behind(met.live, len(met.numbers))
        found = summed_rewards(history, met) if rows is not None else None
        if rows is None or found is None or found[0].name != "add":
            continue
        op, rewards = found
        both = zip(rows, rewards, strict=True)
        going_on = [(row.reward, reward) for row, reward in both if row is not None and not row.end]
        if len(going_on) >= FEWEST and are_rewards(going_on) and _asks_itself(history, met, op, rows):
            yield OwnState(met, op.site, len(going_on))


def _asks_itself(history: History, met: Met, added: Op, rows: list[Row]) -> bool:
    graph = history.graph
    value = next(s for s in graph.inputs(added) if graph.value_params([s.nid]))
    own = {_original(history, pid) for pid in graph.live_params([met.live.nid])}
    others = {_original(history, pid) for pid in graph.value_params([value.nid])}
    return bool(others & own) and all(
        _is_about(history, part, rows) for part in [value, *_beside(history, met)]
    )


def _beside(history: History, met: Met) -> list[Op]:
    """All that networks say in the target: a bonus for the own state may stand beside the value of the next one."""
    graph = history.graph
    parts = [] if met.constant is None else [term.op for term in terms(graph, met.constant)]
    return [part for part in parts if graph.value_params([part.nid])]


def _original(history: History, pid: ParamId) -> ParamId:
    source = history.networks.source_of(pid) if history.networks.is_target(pid) else None
    return pid if source is None else source


def _is_about(history: History, value: Op, rows: list[Row]) -> bool:
    """Whether all that the network was asked are the observations of these rows, one by one and in their order."""
    graph, stack, seen, asked = history.graph, [value], set[ValueId](), 0
    while stack:
        op = stack.pop()
        if op.nid in seen:
            continue
        seen.add(op.nid)
        inputs = [source for source in graph.inputs(op) if source.kind != "parameter"]
        learned = [source for source in inputs if graph.value_params([source.nid])]
        takes_weights = len(inputs) < len(list(graph.inputs(op)))
        if op.kind != "operation" or not (learned or takes_weights) or _mixes_rows(op, inputs):
            return False
        if takes_weights or op.name == "cat":
            data = [source for source in inputs if source not in learned and source.floating]
            asked += len(data)
            if not all(_are_of(history, source, rows) for source in data):
                return False
        stack += learned
    return asked > 0


def _mixes_rows(op: Op, inputs: list[Op]) -> bool:
    beside = op.name == "cat" and all(source.shape[:1] == op.shape[:1] for source in inputs)
    return op.name in MIXING and not beside


def _are_of(history: History, asked: Op, rows: list[Row]) -> bool:
    """Whether these are the observations of the rows, perhaps beside other data, and not where they have led."""
    book = history.experience
    behind = {asked.nid, *history.graph.ancestors([asked.nid])}
    if any(list(book.successors.get(nid, ())) == rows for nid in behind):
        return False
    return any(list(book.observations.get(nid, ())) == rows for nid in behind)
