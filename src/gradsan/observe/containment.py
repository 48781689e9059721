"""Our own code never reaches the script: its faults are reported, and that part of it is quiet from then on."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from gradsan.observe.tracing import Tracing
from gradsan.observe.unseen import is_traced, unseen
from gradsan.record.events import Fault

P = ParamSpec("P")
R = TypeVar("R")


class Containment:
    def __init__(self, report: Callable[[Fault], None], tracing: Tracing) -> None:
        self._report = report
        self._tracing = tracing
        self._stops: dict[int, BaseException] = {}  # by thread
        self.quiet: set[str] = set()

    def contain(self, tap: str, look: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
        """Run our own code so that its faults never reach the user's script, and its tensor reads
        reach neither our own operation tap nor a mode or subclass of the user's."""
        if is_traced():
            return None
        result = self._contained(tap, look, *args, **kwargs)
        if self._stops:
            self._stop_here()
        return result

    def contain_even_traced(self, tap: str, look: Callable[[], None]) -> None:
        """For what touches no tensor, and has to be told though PyTorch is tracing."""
        self._contained(tap, look)

    def _contained(self, tap: str, look: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
        if tap in self.quiet:
            return None
        try:
            return unseen(look, *args, **kwargs)
        except Exception:
            self.fault(tap)
            return None

    def fault(self, tap: str) -> None:
        """The exception being handled is our own: report it, and let that tap be quiet from now on."""
        self.quiet.add(tap)
        self._report(Fault(tap, traceback.format_exc()))

    def look_away(self) -> None:
        """After a fork, in the child: the taps stay (it may be inside one of them), and see nothing."""
        self.quiet = _Everything()

    # -- stops that the user asked for ----------------------------------------------------------------

    def stop_with(self, error: BaseException) -> None:
        """The user asked to be stopped: raise this on the line that is running, once we are done with it."""
        self._stops.setdefault(threading.get_ident(), error)

    def take_stop(self) -> BaseException | None:
        """The watch is ending: what is still to be raised on this thread is for its end to raise."""
        return self._stops.pop(threading.get_ident(), None)

    def _stop_here(self) -> None:
        frame = sys._getframe(2)
        while frame.f_back is not None:
            frame = frame.f_back
            if frame.f_code is Containment.contain.__code__:
                return  # our own code is still running further out; let it come to its end
        error = self.take_stop()
        if error is not None:
            raise error from sys.exception()


class _Everything(set[str]):
    def __contains__(self, _: object) -> bool:
        return True
