"""What the environments have said, and which rows of which values were made of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from gradsan.judge.flow import LINEAR, SELECTING, SHAPING, TAKEN_OUT, behind_all
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Environment, Experience, Op, ParamId, Transition, ValueId

KEPT_TRANSITIONS, KEPT_VALUES = 20_000, 6_000
JOINS = ("stack", "cat", "hstack", "vstack")
SEVERAL = (0, -1)
Row = Transition | None  # None: nobody knows


class ExperienceBook:
    def __init__(self, graph: Provenance) -> None:
        self._graph = graph
        self.environments: list[Environment] = []
        self._met_again = False
        self.transitions: dict[tuple[int, int], Transition] = {}
        self.numbers: dict[ValueId, tuple[float, ...]] = {}
        self.observations: dict[ValueId, tuple[Row, ...]] = {}
        self.successors: dict[ValueId, tuple[Row, ...]] = {}
        self.rewards: dict[ValueId, tuple[Row, ...]] = {}
        self.alike: dict[ValueId, tuple[Row, ...]] = {}
        self.of_other_agents: dict[tuple[ValueId, str], list[tuple[Row, ...]]] = {}
        self._tables = {
            "observation": self.observations, "next observation": self.successors, "reward": self.rewards,
            "alike": self.alike,
        }  # fmt: skip
        self._at_clock: dict[int, dict[int, tuple[int, int]]] = {}
        self._clocks: list[int] = []
        self._params: dict[ValueId, set[ParamId]] = {}

    @property
    def was_followed(self) -> bool:
        """Whether anything that an environment said has been met again."""
        return bool(self.observations or self._at_clock)

    @property
    def was_lost(self) -> bool:
        """Whether there was an environment, and no batch of its observations has been met again."""
        return bool(self.environments) and not self._met_again

    @property
    def gives_rewards(self) -> bool:
        """Whether what was given is to be made large: a class of the script's own may call its cost a reward."""
        return bool(self.environments) and all(one.rewards for one in self.environments)

    def seen(self, event: Environment) -> None:
        self.environments.append(event)

    def add(self, event: Experience) -> None:
        for transition in event.transitions:
            key = (transition.stream, transition.step)
            self.transitions[key] = transition
            if transition.clock:
                steps = self._at_clock.setdefault(transition.clock, {})
                # One action for several steps: nobody can tell which of them is meant.
                steps[transition.stream] = key if steps.get(transition.stream, key) == key else SEVERAL
        self._clocks = sorted(self._at_clock)
        for rows in event.rows:
            table = self._tables[rows.part]
            own = tuple([event.transitions[at] if at >= 0 else None for at in rows.at])
            # A single row is what the agent acts on.
            self._met_again = self._met_again or (len(own) > 1 and table is self.observations)
            if table.setdefault(rows.value, own) != own:
                others = self.of_other_agents.setdefault((rows.value, rows.part), [])
                others += [own] if own not in others else []
        for value in event.numbers:
            self.numbers[value.value] = value.numbers
        for memory, limit in (
            (self.transitions, KEPT_TRANSITIONS), (self._at_clock, KEPT_TRANSITIONS), (self.numbers, KEPT_VALUES),
            (self.observations, KEPT_VALUES), (self.successors, KEPT_VALUES), (self.of_other_agents, KEPT_VALUES),
            (self.rewards, KEPT_VALUES), (self.alike, KEPT_VALUES),
        ):  # fmt: skip
            _shorten(memory, limit)

    def begins(self, transition: Transition) -> bool:
        """Whether an episode is known to begin with it."""
        before = self.transitions.get((transition.stream, transition.step - 1))
        return transition.step == 0 or (before is not None and before.end != "")

    # -- whose row is whose -------------------------------------------------------------------------------

    def rows_behind(self, live: Op, count: int) -> list[Row] | None:
        """The transitions that the rows of a value with a graph are about: by the observations it was computed from,
        or by when it was computed."""
        for nid in self._graph.ancestors([live.nid]):
            rows = self.observations.get(nid)
            if rows is not None and len(rows) == count:
                return list(rows)
        return self._rows_by_time(live, count)

    def readings_behind(self, live: Op, count: int) -> Iterator[list[Row]]:
        """The same; of a value that was computed from several batches at once (observations and the next ones, in one
        pass), for each of them; from what all agents see, for each agent."""
        if (first := self.rows_behind(live, count)) is not None:
            yield first
        behind = self._graph.ancestors([live.nid])
        for rows in (self.observations[nid] for nid in behind if nid in self.observations):
            if len(rows) == count and list(rows) != first:
                yield list(rows)
        for nid in behind if self.of_other_agents else ():
            for rows in self.of_other_agents.get((nid, "observation"), ()):
                if len(rows) == count:
                    yield list(rows)

    def led_to(self, nid: ValueId) -> Iterator[tuple[Row, ...]]:
        """The transitions that have led to these observations, once for each agent that they may be about."""
        if nid in self.successors:
            yield self.successors[nid]
            yield from self.of_other_agents.get((nid, "next observation"), ())

    def _rows_by_time(self, live: Op, count: int) -> list[Row] | None:
        elements = list(self._elements(live))
        found: list[Row] = []
        for element in elements:
            taken = self._taken_with(self._score(element).nid)
            if len(taken) * len(elements) != count:
                return None
            found += taken
        return found

    def _elements(self, op: Op) -> Iterator[Op]:
        """What was stacked, behind signs and forms; the value itself, where nothing was."""
        while op.name not in JOINS or len(op.inputs) < 2:
            live = [source for source in self._graph.inputs(op) if source.live]
            if len(live) != 1 or op.name not in SHAPING | {"neg", "mul", "div"} or op.shape == ():
                yield op
                return
            op = live[0]
        yield from self._graph.inputs(op)

    def _score(self, op: Op) -> Op:
        """The log-probability itself, behind what was done to it when the episode was over."""
        while "log_prob" not in op.tags and op.name in LINEAR - SELECTING | {"exp"}:
            live = [source for source in self._graph.inputs(op) if source.live]
            if len(live) != 1:
                break
            op = live[0]
        return op

    def said_when_acting(self, pids: set[ParamId]) -> dict[tuple[int, int], float]:
        """What a network with these parameters has said of each state while the steps were taken, where it has left
        torch since; by stream and step."""
        found: dict[tuple[int, int], float] = {}
        for nid, numbers in self.numbers.items():
            op = behind_all(self._graph, self._graph.get(nid), SHAPING | TAKEN_OUT)
            taken = self._taken_with(op.nid) if op is not None and self._has_left(op, nid) else []
            if op is not None and len(taken) == len(numbers) and self._read_by(op.nid) & pids:
                rows = zip(taken, numbers, strict=True)
                found |= {(row.stream, row.step): number for row, number in rows if row is not None}
        return found

    def _has_left(self, op: Op, nid: ValueId) -> bool:
        """Whether it is a number by now; what has a graph may be kept beside it, to be learned from."""
        users = (self._graph.get(user) for user in self._graph.consumers.get(nid, ()))
        return not op.live or any(user is not None and user.name in TAKEN_OUT for user in users)

    def _read_by(self, nid: ValueId) -> set[ParamId]:
        """The parameters that a value was made with; asked for at every backward with a part of the rollout."""
        if nid not in self._params:
            _shorten(self._params, KEPT_VALUES)
            self._params[nid] = self._graph.value_params([nid])
        return self._params[nid]

    def _taken_with(self, nid: ValueId) -> list[Row]:
        """The step that was taken when this value was the newest, of each copy."""
        at = bisect_left(self._clocks, nid)
        if at == len(self._clocks):
            return []
        steps = self._at_clock[self._clocks[at]]
        return [self.transitions.get(steps[stream]) for stream in sorted(steps)]


def _shorten(memory: dict[Any, Any], limit: int) -> None:
    if len(memory) > limit:
        for key in list(memory)[: limit // 2]:
            del memory[key]
