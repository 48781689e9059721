"""Our own code never reaches the script: its faults are reported, and that part of it is quiet from then on."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar

from gradsan.observe import interruptions, last_resort
from gradsan.observe.focus.tracing import Tracing
from gradsan.observe.interruptions import is_at_work, is_the_scripts
from gradsan.observe.unseen import is_traced, unseen
from gradsan.record.events import Fault

P = ParamSpec("P")
R = TypeVar("R")


class Contain(Protocol):
    def __call__(self, tap: str, look: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R | None: ...


class Containment:
    def __init__(self, report: Callable[[Fault], None], tracing: Tracing) -> None:
        self._report = report
        self._tracing = tracing
        self._stops: dict[int, BaseException] = {}  # by thread
        self.quiet: set[str] = set()
        self.contain = self._guard()

    def _guard(self) -> Contain:
        """`contain`, in one piece: what can go wrong in it is either asked for, or stays inside."""
        contained, stops, waiting, frame_above = (
            self._contained, self._stops, interruptions.waiting, sys._getframe,
        )  # fmt: skip

        def contain(tap: str, look: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R | None:
            """Run our own code so that its faults never reach the user's script, and its tensor reads
            reach neither our own operation tap nor a mode or subclass of the user's."""
            result = None
            try:
                if not is_traced():
                    result = contained(tap, look, *args, **kwargs)
            except Exception as error:  # of the containment itself, unless somebody else threw it
                if is_the_scripts(error):
                    raise
                last_resort.note(tap)
            if stops and not is_at_work(frame_above(1)) and (stop := self.take_stop()) is not None:
                raise stop from sys.exception()
            if waiting:
                interruptions.deliver(frame_above(1))
            return result

        interruptions.WORK.add(contain.__code__)
        return contain

    def contain_even_traced(self, tap: str, look: Callable[[], None]) -> None:
        """For what touches no tensor, and has to be told though PyTorch is tracing."""
        self._contained(tap, look)

    def _contained(self, tap: str, look: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
        if tap in self.quiet:
            return None
        try:
            return unseen(look, *args, **kwargs)
        except Exception as error:
            if is_the_scripts(error):
                raise
            self.fault(tap)
            return None

    def fault(self, tap: str, installing: bool = False) -> None:
        """The exception being handled is our own: report it, and let that tap be quiet from now on."""
        self.quiet.add(tap)
        self._report(Fault(tap, traceback.format_exc(), installing))

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


class _Everything(set[str]):
    def __contains__(self, _: object) -> bool:
        return True
