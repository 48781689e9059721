"""A plain training loop, watched from its first turn to its last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar, Unpack

from gradsan.api.report import WatchReport
from gradsan.api.showing import show_findings
from gradsan.api.watch import Mode, WatchOptions, watch
from gradsan.api.watch_context import WatchContext

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
        mode: Mode | None = None,
        *,
        quiet: bool = False,
        **options: Unpack[WatchOptions],
    ) -> None:
        self._items = items
        self._quiet = quiet or options.get("on_finding") is not None
        self._watching: WatchContext = watch(mode, **options)
        self._watching.speaks = False

    @property
    def report(self) -> WatchReport:
        return self._watching.report

    def __iter__(self) -> Iterator[T]:
        try:
            with self._watching:
                yield from self._items
        finally:
            if not self._quiet or not self.report.watched:
                show_findings(self._watching)
