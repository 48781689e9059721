"""Targets over steps of several copies at once: a row begins in one copy of the environment, and its next value is that
of a state of another. So it is where all copies put their steps into one queue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradsan.judge.experience import Row
from gradsan.judge.history import History
from gradsan.judge.objective.weighed import Met, met_in
from gradsan.judge.report.wording import line
from gradsan.judge.returns.bootstraps import summed_rewards
from gradsan.judge.returns.misaligned import Memory, Misaligned
from gradsan.record.events import Backward, ValueId

FEWEST = 12  # rows of which both states are known


class SuccessorsOfOthers:
    def __init__(self, history: History, memory: Memory) -> None:
        self._history, self._memory = history, memory
        self._right = False

    def found_in(self, event: Backward) -> Iterator[Misaligned]:
        history, book = self._history, self._history.experience
        # Players of one game take turns: what follows a state is another's.
        if not book.successors or book.of_other_agents or any(e.together for e in book.environments):
            return
        for met in met_in(history, event) if not self._right else ():
            if met.op.name == "mul" or met.constant is None:
                continue
            own = book.rows_behind(met.live, len(met.numbers))
            after = self._led_there(met.constant.nid, len(met.numbers)) if own is not None else None
            if own is None or after is None or (added := summed_rewards(history, met)) is None:
                continue
            apart, same = _apart(own, after)
            self._right = self._right or 4 * same > apart
            if not self._right and apart + same >= FEWEST and self._is_enough(met):
                site = added[0].site
                yield Misaligned(
                    site,
                    f"the target of {line(history, met.op.site)} takes, at {apart} of {apart + same} rows, the value "
                    "of a state of another copy of the environment than the one that the row begins in",
                    [("target", site), ("loss", met.op.site), ("backward", event.site)],
                    fix="keep the steps of each copy apart until they are summed up: a queue for each of them",
                )

    def _is_enough(self, met: Met) -> bool:
        return met.constant is not None and self._memory.is_enough(met.constant.nid, met.op.site)

    def _led_there(self, target: ValueId, count: int) -> Sequence[Row] | None:
        """The steps that led to the states which the target's next values are of; of one such batch only."""
        book = self._history.experience
        found = [
            book.successors[nid] for nid in self._history.graph.ancestors([target]) if nid in book.successors
        ]
        alike = [rows for rows in found if len(rows) == count]
        return alike[0] if len(alike) == 1 else None


def _apart(own: Sequence[Row], after: Sequence[Row]) -> tuple[int, int]:
    """At how many rows the two are of different copies, and at how many of the same."""
    known = [(a, b) for a, b in zip(own, after, strict=True) if a is not None and b is not None]
    same = sum(a.stream == b.stream for a, b in known)
    return len(known) - same, same
