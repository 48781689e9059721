"""What the callbacks of training libraries have in common: a watch that the library's own calls open and close."""

from __future__ import annotations

from typing import Any, Self

from gradsan.api.report import WatchReport
from gradsan.api.watch import Mode, WatchOptions, watch
from gradsan.api.watch_context import WatchContext


class WatchedCallback:
    """As a context manager it is closed when the training raises, of which many libraries do not tell callbacks."""

    _watching: WatchContext
    _open = False

    def prepare(self, mode: Mode | None, options: WatchOptions) -> None:
        self._watching = watch(mode, **options)
        self._watching.speaks = False

    @property
    def report(self) -> WatchReport:
        return self._watching.report

    def begin(self) -> None:
        self.close()  # an earlier training raised, and nobody told us
        self._watching.__enter__()
        self._open = True

    def close(self, error: BaseException | None = None) -> None:
        """Ends the watch, if it is open."""
        if self._open:
            self._open = False
            self._watching.__exit__(type(error) if error else None, error, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.close(error)
