"""In how many iterations a finding was met, and of how many others the same is known."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from gradsan.judge.report.findings import Finding

LIGHT, PARTLY, DEEP = range(3)  # how closely an iteration was looked at
RECENT = 4  # looks; what was met in all of them is taken to be there until the next one


@dataclass(slots=True)
class Record:
    finding: Finding
    first: int
    lightly: bool = False  # it was met where operations were not traced: then every look can tell
    recent: deque[bool] = field(default_factory=lambda: deque(maxlen=RECENT))

    def looked(self, met: bool) -> None:
        self.finding.traced += 1
        self.finding.met += met
        self.recent.append(met)

    def passed(self, times: int, traced: bool = False) -> None:
        """So many iterations went like those before; `traced` where that was seen of every operation in them."""
        if not all(self.recent):
            return
        self.finding.count += times
        if traced:
            self.finding.traced += times
            self.finding.met += times
        else:
            self.finding.repeated += times


class Counting:
    """An iteration counts when it is judged to its end: verdicts about a backward wait until it is known who
    consumed it."""

    def __init__(self) -> None:
        self._records: dict[Any, Record] = {}
        self._met: dict[int, set[Any]] = {}  # by iteration that is not judged to its end yet
        self._ended: dict[int, int] = {}  # and how closely they were looked at
        self._look = self._next = LIGHT  # in this iteration, and from the next one on

    def met(self, key: Any, finding: Finding, iteration: int) -> None:
        self._records.setdefault(key, Record(finding, iteration))
        self._met.setdefault(iteration, set()).add(key)

    def attention(self, deep: bool, from_start: bool) -> None:
        """From here on; `from_start` where an iteration is only about to begin."""
        self._next = DEEP if deep else LIGHT
        self._look = self._next if from_start else PARTLY

    def ended(self, iteration: int) -> None:
        self._ended[iteration], self._look = self._look, self._next

    def judged(self, last: int) -> None:
        """All iterations up to this one are judged to their end."""
        for iteration in [i for i in self._ended if i <= last]:
            met, look = self._met.pop(iteration, set()), self._ended.pop(iteration)
            for key, record in self._records.items():
                if iteration < record.first:
                    continue
                record.lightly = record.lightly or (key in met and look == LIGHT)
                if key in met or look == DEEP or record.lightly:
                    record.looked(key in met)
                else:
                    record.passed(1)

    def repeated(self, times: int) -> None:
        """So many iterations were only counted. Who consumed the gradients of the last ones before them is not
        known any more, so these are told by what was met in them at once."""
        left = sorted(self._ended)
        for key, record in self._records.items():
            met = [key in self._met.get(iteration, ()) for iteration in left]
            for _ in range(sum(met)):
                record.looked(True)
            for iteration, here in zip(left, met, strict=True):
                if iteration >= record.first and not here:
                    record.passed(1, traced=self._ended[iteration] == DEEP)
            record.passed(times, traced=self._look == DEEP)
        self._ended.clear()
        self._met.clear()

    def finish(self) -> None:
        """The last iteration may not have come to its end: whatever was met in it was met, and of the rest nothing
        is known."""
        for iteration in [i for i in self._met if i not in self._ended]:
            for key in self._met.pop(iteration):
                self._records[key].looked(True)
        self.judged(max(self._ended, default=0))
