"""A plain training loop, watched from its first turn to its last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from gradsan.api.report import WatchReport
from gradsan.api.watch import Codes, Mode, Severity, watch
from gradsan.api.watch_context import WatchContext
from gradsan.judge.findings import Finding

T = TypeVar("T")


class watched(Generic[T]):
    """Iterate over anything, watching what the loop's body does with it.

        for batch in (loop := watched(batches)):
            train_on(batch)
        loop.report.findings

    The watch ends with the loop, be it by `break` or by an exception. Findings are printed to stderr then,
    unless `quiet` or `on_finding` say otherwise; that nothing could be watched always is. The other arguments
    are those of `gradsan.watch`.
    """

    def __init__(
        self,
        items: Iterable[T],
        mode: Mode = "adaptive",
        *,
        select: Codes = (),
        ignore: Codes = (),
        on_finding: Callable[[Finding], None] | None = None,
        raise_on: Severity | None = None,
        include: Codes = (),
        quiet: bool = False,
    ) -> None:
        self._items = items
        self._quiet = quiet or on_finding is not None
        self._watching: WatchContext = watch(
            mode, select=select, ignore=ignore, on_finding=on_finding, raise_on=raise_on, include=include
        )

    @property
    def report(self) -> WatchReport:
        return self._watching.report

    def __iter__(self) -> Iterator[T]:
        try:
            with self._watching:
                yield from self._items
        finally:
            if not self._quiet or not self.report.watched:
                self.report.show()
