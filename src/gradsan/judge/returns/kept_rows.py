"""A rollout that is never put away: what every update learns from begins with all that the one before learned from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradsan.judge import flow
from gradsan.judge.leaks.own_weights import goes_both_ways
from gradsan.judge.objective import scores
from gradsan.judge.objective.weighed import is_score
from gradsan.judge.report.wording import line, value_at
from gradsan.judge.returns.misaligned import Memory, Misaligned
from gradsan.record.events import Backward, Op, ParamId, Site, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

JOINS = {"stack", "cat", "tensor", "as_tensor", "vstack", "hstack"}
HANDED_ON = flow.SHAPING | flow.SELECTING | flow.TAKEN_OUT
GROWN = 2  # times in a row: an episode may be learned from once before it is over


@dataclass(slots=True)
class _Batch:
    parts: tuple[ValueId, ...]
    grown: int
    rows: int


@dataclass(slots=True)
class KeptBatch:
    joined: Op
    weighed: Op
    before: int  # rows that earlier updates had learned from
    now: int
    times: int


class KeptRows:
    """Told of losses that only the policy of the moment may feed: ratios that are clipped around one, and
    log-probabilities that are weighed both up and down. Imitation and replay may keep what they like."""

    def __init__(self, history: History, memory: Memory) -> None:
        self._history = history
        # By where it is weighed, and whose log-probabilities they are.
        self._last: dict[tuple[Site, frozenset[ParamId]], _Batch] = {}

    def found_in(self, event: Backward) -> Iterator[Misaligned]:
        for batch in self._kept_in(event) if event.call == "backward" else ():
            site, weighed = batch.joined.site, batch.weighed.site
            yield Misaligned(
                site,
                f"{value_at(self._history, site, 'the batch')} has {batch.now} rows, and the first {batch.before} are "
                f"those of the update before; so it was {batch.times} times in a row: the policy on "
                f"{line(self._history, weighed)} learns again and again from what older ones did",
                [("put together", site), ("loss", weighed), ("backward", event.site)],
                fix="empty the rollout after each update (`memory.clear()`), before the next episode is put in",
            )

    def _kept_in(self, event: Backward) -> Iterator[KeptBatch]:
        for joined, weighed in self._learned_from(event):
            parts, rows = self._parts(joined), joined.shape[0] if joined.shape else 0
            key = (weighed.site, frozenset(self._history.graph.live_params([weighed.nid])))
            last = self._last.get(key)
            if last is None or parts == last.parts[: len(parts)]:
                self._last.setdefault(key, _Batch(parts, 0, rows))
                continue
            grown = last.grown + 1 if parts[: len(last.parts)] == last.parts else 0
            self._last[key] = _Batch(parts, grown, rows)
            if grown >= GROWN:
                yield KeptBatch(joined, weighed, last.rows, rows, grown)

    def _parts(self, joined: Op) -> tuple[ValueId, ...]:
        """What it is put together of, also where the new is added to the old each time."""
        if joined.name in JOINS - {"cat", "stack"} and joined.inputs:
            return joined.inputs
        return scores.identity(self._history.graph, joined)

    def _learned_from(self, event: Backward) -> Iterator[tuple[Op, Op]]:
        graph = self._history.graph
        roots = [root.nid for root in event.roots]
        within = graph.live_ancestors(roots)
        for difference in scores.differences(graph, roots):
            ratio = scores.ratio_of(graph, difference, within)
            clipped = ratio is not None and scores.is_clipped_around_one(graph, ratio, within)
            if clipped:
                yield self._joined(difference.constant), difference.op
        for op in graph.named(within, ("mul",)):
            sides = list(graph.inputs(op))
            live = [s for s in sides if s.live]
            if len(sides) != 2 or len(live) != 1 or not is_score(self._history, live[0]):
                continue
            if goes_both_ways(event, graph, live[0]):
                yield from ((joined, op) for joined in self._scored(live[0]))

    def _joined(self, op: Op) -> Op:
        """What rows were taken from, as it was put together, or made."""
        graph = self._history.graph
        while op.name in HANDED_ON and "log_prob" not in op.tags and not scores.picks_one_of_all(graph, op):
            source = next(graph.inputs(op), None)
            if source is None:
                break
            op = source
        return op

    def _scored(self, score: Op) -> Iterator[Op]:
        """The choices that it is about, put together one by one: not what a network remembers of the past."""
        graph = self._history.graph
        for op in graph.live_ancestors([score.nid]).values():
            if "log_prob" not in op.tags and not scores.picks_one_of_all(graph, op):
                continue
            for given in (i for i in graph.inputs(op) if not i.live):
                joined = self._joined(given)
                if joined.name in JOINS and joined.shape[:1] == score.shape[:1]:
                    yield joined
