"""One observation session: installs the taps in order and takes them out in reverse."""

from __future__ import annotations

import contextlib
import sys
import threading
from types import FrameType
from typing import Any

from gradsan.observe import warning_places
from gradsan.observe.attention import AttentionPolicy
from gradsan.observe.backward import BackwardTap
from gradsan.observe.clipping import ClipTap
from gradsan.observe.context import Context
from gradsan.observe.inspect_op import failure_kind, holder_clues
from gradsan.observe.interop import InteropTap
from gradsan.observe.names import find_names
from gradsan.observe.networks import NetworkTap
from gradsan.observe.optimizers import OptimizerTap
from gradsan.observe.patches import Patches
from gradsan.record.events import Backward, Event, Failed, ParamNamed, StepDone
from gradsan.record.recorder import Recorder

NAME_SEARCHES = 64  # a script that makes new leaves all the time gets no names for the later ones


class Session:
    """`with Session(recorder, mode): …` watches everything that happens inside."""

    def __init__(self, recorder: Recorder, mode: str = "adaptive", include: tuple[str, ...] = ()) -> None:
        self.recorder = recorder
        self.context = Context(self._emit, include)
        self.attention = AttentionPolicy(self.context, recorder, mode)
        self._patches = Patches()
        self._optimizers = OptimizerTap(self.context)
        self._stack = contextlib.ExitStack()
        self._searches = 0

    def __enter__(self) -> Session:
        self._follow_threads()
        kinds = (BackwardTap, NetworkTap, InteropTap, ClipTap)
        taps: list[Any] = [kind(self.context) for kind in kinds]
        self._stack.callback(self._patches.restore)  # first: a tap that cannot be installed leaves none
        for tap in taps:
            tap.install(self._patches)
        warning_places.install(self._patches)
        self._optimizers.install(self._patches)
        self.attention.compiled.install(self._patches)
        self._stack.callback(self._optimizers.remove)
        self.context.fast_path.on_begin.append(self._patches.rest)
        self.attention.on_close_look.append(self._patches.wake)
        self.attention.start()
        self._stack.callback(self.attention.stop)
        return self

    def __exit__(self, *exc: object) -> None:
        self.context.contain("session", self._flush)
        self._stack.close()
        with contextlib.suppress(Exception):
            self.recorder.finish()

    def _follow_threads(self) -> None:
        """A thread that starts while we look deeply is looked at, too."""
        context, tap, start = self.context, self.attention.tap, threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

        def bootstrap_inner(thread: threading.Thread) -> None:
            if context.operations is not None:
                context.contain("thread", tap.enter)
            try:
                start(thread)
            finally:
                context.contain("end of a thread", tap.leave_for_good)

        self._patches.set(threading.Thread, "_bootstrap_inner", bootstrap_inner)

    def explain(self, error: BaseException) -> None:
        """The script ended with this exception: say what it means, unless a tap has said so already."""
        self.context.contain("explain", self._explain, error)

    def _explain(self, error: BaseException) -> None:
        self._flush()
        kind = failure_kind(str(error)) if isinstance(error, RuntimeError) else ""
        if not kind or id(error) in self.attention.tap.failures:
            return
        sites, frames, trace = self.context.sites, [], error.__traceback__
        while trace is not None:
            frames.append((trace.tb_frame, trace.tb_lineno))
            trace = trace.tb_next
        users = [(f, line) for f, line in frames if sites.is_user(f.f_code)]
        if users:
            frame, line = users[-1]
            site = sites.at(frame.f_code.co_filename, line, frame.f_code.co_name)
            clues = holder_clues(frames[-1][0], sites)
            self.context.emit(Failed(kind, site, f"{type(error).__name__}: {error}", clues))

    def catch_up(self) -> None:
        """Bring the judge up to this very line: somebody is going to ask it."""
        self.context.contain("catch up", self._catch_up)

    def _catch_up(self) -> None:
        self._flush()
        self.recorder.catch_up()

    def look_away(self) -> None:
        """After a fork, in the child: the taps stay (it may be inside one of them), and see nothing."""
        self.context.quiet = _Everything()

    def _flush(self) -> None:
        if self.context.operations is not None:
            self.context.operations.flush()

    def _emit(self, event: Event) -> None:
        if (
            self.context.leaves.unnamed
            and isinstance(event, Backward | StepDone)
            and self._searches < NAME_SEARCHES
        ):
            self._searches += 1
            self.context.contain("names", self._name, sys._getframe(2))
        self.attention.before_event()
        before = self.recorder.iteration
        self.recorder.emit(event)
        self.context.iteration = self.recorder.iteration
        if self.recorder.iteration != before:
            self.attention.after_iteration()

    def _name(self, frame: FrameType) -> None:
        """Give the parameters their names while the user's variables are within sight."""
        leaves = self.context.leaves
        wanted: dict[int, int] = {}
        for pid in leaves.unnamed:
            tensor = leaves.tensor(pid)
            if tensor is not None:
                wanted[id(tensor)] = pid
        found: dict[int, list[str]] = find_names(set(wanted), frame, self.context.sites)
        leaves.unnamed = {pid for key, pid in wanted.items() if key not in found}
        for key, names in found.items():
            self.recorder.emit(ParamNamed(wanted[key], names[0], tuple(names[1:8])))


class _Everything(set[str]):
    def __contains__(self, _: object) -> bool:
        return True
