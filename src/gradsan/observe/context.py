"""What all taps share: numbers for things, the way out for events, and containment of our own faults."""

from __future__ import annotations

import contextlib
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import torch

from gradsan.observe.fast_path import FastPath
from gradsan.observe.inspect_op import context_site
from gradsan.observe.line_recall import LineRecall
from gradsan.observe.magnitudes import ChartMagnitudes, Magnitudes
from gradsan.observe.manual_loops import ManualLoops
from gradsan.observe.registry import Leaves, Optimizers
from gradsan.observe.sites import Sites
from gradsan.record.events import NOWHERE, Blind, Event, Fault, Site

if TYPE_CHECKING:
    from gradsan.observe.backward_diagnosis import GradientWatcher
    from gradsan.observe.operations import OperationTap

P = ParamSpec("P")
R = TypeVar("R")


class Context:
    """One observation session, as its taps see it."""

    def __init__(self, emit: Callable[[Event], None], include: tuple[str, ...] = ()) -> None:
        self.lock = threading.RLock()
        self._emit = emit
        self.sites = Sites(emit, include)
        self.leaves = Leaves(emit)
        self.optimizers = Optimizers()
        self.operations: OperationTap | None = None
        self.fast_path = FastPath()
        self.magnitudes = Magnitudes(self.leaves)
        self.charts = ChartMagnitudes(self.leaves)
        self.manual_loops = ManualLoops()
        self.line_recall = LineRecall()
        self.iteration = 0
        self.quiet: set[str] = set()
        # A sketch of the ledger, enough to notice what passes no tap: leaves whose `.grad` is known to
        # hold something, and those of them that a step has consumed already.
        self.holding: set[int] = set()
        self.spent: set[int] = set()
        self.fresh: set[int] = set()  # fed since the last step
        self.ever_fed: set[int] = set()
        self.gradients_off: Site = NOWHERE
        self.inference_sites: list[tuple[Site, str]] = []
        self.watcher: GradientWatcher | None = None
        self.hunting_zeros = False
        self.on_news: Callable[[str], None] = lambda reason: None
        self.on_silence: Callable[[], None] = lambda: None
        self.leaves.on_rebirth = self._reborn
        self._blind: set[str] = set()
        self._stops: dict[int, BaseException] = {}  # by thread
        self._backwards = 0

    def emit(self, event: Event) -> None:
        with self.lock:
            if self.operations is not None:
                self.operations.flush()
            self._emit(event)

    def next_backward(self) -> int:
        self._backwards += 1
        return self._backwards

    def cleared(self, pids: Iterable[int]) -> None:
        self.manual_loops.cleared = True
        self.holding.difference_update(pids)
        self.spent.difference_update(pids)
        self.fresh.difference_update(pids)

    def _reborn(self, pids: Iterable[int]) -> None:
        self.cleared(pids)
        self.ever_fed.difference_update(pids)

    def lost_track(self) -> None:
        """Boundaries went by unseen: whatever the gradients hold now is of unknown origin."""
        self.holding.clear()
        self.spent.clear()
        self.fresh.clear()
        self.manual_loops.cleared = True  # for all we know

    def clearing_site(self) -> Site:
        """The line that last wrote `.grad` by hand, where the operation tap saw it."""
        return self.operations.special.last_grad_write if self.operations is not None else NOWHERE

    def blind(self, reason: str, frame: FrameType | None, rules: tuple[str, ...] = ()) -> None:
        """Something could not be looked at, so these rules (all that look deeply, if none are named)
        were not evaluated there."""
        if reason not in self._blind:
            self._blind.add(reason)
            self.contain("blind", lambda: self.emit(Blind(reason, self.sites.here(frame), rules)))

    def switched_gradients(self, enabled: bool, frame: FrameType | None) -> None:
        self.gradients_off = NOWHERE if enabled else self.sites.here(frame)

    def entered_inference(self, enabled: bool, frame: FrameType | None) -> None:
        self.inference_sites.append(context_site(frame, self.sites) if enabled else (NOWHERE, ""))

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Run PyTorch's own code without tracing its operations."""
        operations = self.operations
        if operations is None:
            yield
            return
        operations.pause()
        try:
            yield
        finally:
            operations.resume()

    def contain(self, tap: str, look: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
        """Run our own code so that its faults never reach the user's script, and its tensor reads
        never reach our own operation tap."""
        result = self._contained(tap, look, *args, **kwargs)
        if self._stops:
            self._stop_here()
        return result

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
            if frame.f_code is Context.contain.__code__:
                return  # our own code is still running further out; let it come to its end
        error = self.take_stop()
        if error is not None:
            raise error from sys.exception()

    def _contained(self, tap: str, look: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
        if tap in self.quiet:
            return None
        try:
            if self.operations is None:
                return look(*args, **kwargs)
            with torch._C.DisableTorchFunction():
                return look(*args, **kwargs)
        except Exception:
            self.fault(tap)
            return None

    def fault(self, tap: str) -> None:
        """The exception being handled is our own: report it, and let that tap be quiet from now on."""
        self.quiet.add(tap)
        self._emit(Fault(tap, traceback.format_exc()))
