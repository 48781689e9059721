"""Returns that a loop computed one after the other and put together in another order than what they meet."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.history import History
from gradsan.judge.lines.arrival_lines import ARRIVING
from gradsan.judge.lines.running_sums import carried_on_at, filled_at
from gradsan.judge.report.wording import line, value_at
from gradsan.judge.returns.indexed_order import indexed_disorders
from gradsan.judge.returns.misaligned import ENOUGH_UPDATES, Memory, Misaligned
from gradsan.judge.returns.number_order import number_disorders
from gradsan.judge.returns.rollout_order import Disorder, How, disorders
from gradsan.record.events import Backward, Site

TEXTS: dict[How, str] = {
    "the other way round": "are put together from the last to the first, and meet what was done from the first to the "
    "last",
    "from the front": "are summed from the first to the last: each holds what came before it, not what follows",
    "from empty places": "are summed from the first to the last, and each goes on from the place behind it, which is "
    "not filled yet: nothing that comes later is in it",
}


class PutTogether:
    def __init__(self, history: History, memory: Memory) -> None:
        self._history = history
        self._looks: dict[Site, int] = {}

    def found_in(self, event: Backward) -> Iterator[Misaligned]:
        ways = (disorders, number_disorders, indexed_disorders)
        for found in (found for look in ways for found in look(self._history, event)):
            looks = self._looks[found.joined.site] = self._looks.get(found.joined.site, 0) + 1
            # Numbers of Python's obey a law themselves: one look is enough.
            in_python = found.joined.name in ARRIVING
            if looks >= ENOUGH_UPDATES or in_python:
                yield self._misaligned(event, found, in_python)

    def _misaligned(self, event: Backward, found: Disorder, in_python: bool) -> Misaligned:
        history, site = self._history, found.joined.site
        what = value_at(history, site, "the return")
        # What was summed up in Python is wrong where the list is filled, or the sum carried on.
        line_of = filled_at if found.how == "the other way round" else carried_on_at
        return Misaligned(
            line_of(history, site) if in_python else site,
            f"the returns of {found.steps} steps in {what} {TEXTS[found.how]} ({line(history, found.op.site)})",
            [("return", site), ("loss", found.op.site), ("backward", event.site)],
        )
