"""The script's signal handlers never run in the middle of our own work, but right after it.

Python runs a handler between any two instructions, ours included. One that raises (a timeout by SIGALRM, Ctrl-C)
would unwind our code half-way: caught by us it would be lost, let through it would leave our books half written. So
each handler gets a stand-in. Where it is called while we work, it waits, and whoever ends the work calls the handler,
on the same line of the script. `signal.signal` and `signal.getsignal` take and give the script's own handlers.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType, TracebackType
from typing import Any

from gradsan.observe.patches import Patches

set_handler, get_handler = signal.signal, signal.getsignal  # the real ones
Handler = Callable[[int, FrameType | None], Any]
waiting: dict[int, Handler] = {}  # by signal: those that came while we were at work
defaults: dict[int, Handler] = {}  # what we have put where the script has no handler: it sees the default
WORK: set[CodeType] = set()  # whatever these call is our own work; they call `deliver` when it is done
HALF: set[CodeType] = set()  # these call the script's functions, too: only our own functions are work
INSTALLED = f"{os.sep}site-packages{os.sep}"
OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class StandIn:
    __slots__ = ("handler",)

    def __init__(self, handler: Handler) -> None:
        self.handler = handler

    def __call__(self, number: int, frame: FrameType | None) -> Any:
        if Interruptions.over:
            return None
        if is_at_work(frame):
            waiting[number] = self.handler
            return None
        return self.handler(number, frame)


def is_at_work(frame: FrameType | None) -> bool:
    inner: FrameType | None = None
    while frame is not None:
        code = frame.f_code
        if code in _AWAY:
            return False
        if inner is not None and (
            code in WORK or (code in HALF and inner.f_code.co_filename.startswith(OWN))
        ):
            return True
        inner, frame = frame, frame.f_back
    return False


def deliver(frame: FrameType | None) -> None:
    """Our work is done, unless it is part of some other: call the handlers that waited for it."""
    if threading.get_ident() != threading.main_thread().ident or is_at_work(frame):
        return
    while waiting:
        number = next(iter(waiting))
        waiting.pop(number)(number, frame)


_AWAY = {deliver.__code__}  # a handler that runs is the script's, not our work


# -- taking the handlers' places ------------------------------------------------------------------------


class Interruptions:
    """Between `start` and `stop` every handler of the script has a stand-in."""

    over = False  # the script has ended, and only we are still running

    def __init__(self) -> None:
        self._patches = Patches()

    def mute(self) -> None:
        """What comes from now on would have come after the end of the script: a timer that nobody stopped."""
        Interruptions.over = True
        waiting.clear()
        for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
            signal.setitimer(timer, 0)

    def start(self) -> None:
        @functools.wraps(set_handler)
        def signal_(signalnum: Any, handler: Any) -> Any:
            if handler is signal.SIG_DFL:
                handler = defaults.get(signalnum, handler)
            return _shown(set_handler(signalnum, _stand_in(handler)))

        @functools.wraps(get_handler)
        def getsignal(signalnum: Any) -> Any:
            return _shown(get_handler(signalnum))

        _replace_each(_stand_in)
        self._patches.set(signal, "signal", signal_)
        self._patches.set(signal, "getsignal", getsignal)

    def stop(self) -> None:
        self._patches.restore()
        _replace_each(_shown)
        Interruptions.over = False


def _replace_each(change: Callable[[Any], Any]) -> None:
    if threading.current_thread() is not threading.main_thread():
        return  # nobody else may; those that are set from now on get theirs
    for number in signal.valid_signals():
        handler = get_handler(number)
        if callable(handler) and (other := change(handler)) is not handler:
            set_handler(number, other)


def _stand_in(handler: Any) -> Any:
    if not callable(handler) or isinstance(handler, StandIn) or handler in defaults.values():
        return handler
    return StandIn(handler)


def _shown(handler: Any) -> Any:
    if handler in defaults.values():
        return signal.SIG_DFL
    return handler.handler if isinstance(handler, StandIn) else handler


# -- telling exceptions apart ---------------------------------------------------------------------------


def is_the_scripts(error: BaseException) -> bool:
    """Whether an exception that came out of our work was thrown into it: by a handler that has no stand-in (it was
    there before us, in C, or was set past us), or by another thread (`PyThreadState_SetAsyncExc`)."""
    handlers = {StandIn.__call__.__code__, *map(_code_of, map(signal.getsignal, signal.valid_signals()))}
    strangers = False
    tb: TracebackType | None = error.__traceback__
    while tb is not None:
        code = tb.tb_frame.f_code
        if code in handlers:
            return True
        strangers = strangers or not (code.co_filename.startswith(OWN) or INSTALLED in code.co_filename)
        tb = tb.tb_next
    # Nothing that we run raises a class of the script's own, unless code of the script was called.
    return not strangers and type(error).__module__.partition(".")[0] not in _LIBRARIES


def _code_of(handler: Any) -> CodeType | None:
    handler = getattr(handler, "func", handler)  # a partial
    function = handler if hasattr(handler, "__code__") else getattr(handler, "__func__", None)
    function = function or vars(type(handler)).get("__call__")
    return getattr(function, "__code__", None)


_LIBRARIES = {*sys.stdlib_module_names, "torch", "numpy", "gradsan"}
