"""The optimizer's step that is running. One that an exception ended (a timeout, an optimizer that refuses) tells
nobody that it is over; found out later, its writes are noted all the same, and tracing goes on."""

from __future__ import annotations

import sys
import threading
import weakref
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.nn.modules import module as modules

from gradsan.observe.last_resort import attempt
from gradsan.record.events import Site

if TYPE_CHECKING:
    from gradsan.observe.ops.operations import OperationTap


class Begun(NamedTuple):
    frame: int  # its id: a frame that is held holds every tensor in it
    code: CodeType
    optimizer: weakref.ref[torch.optim.Optimizer]
    site: Site
    tap: OperationTap
    hook: Any


class OpenStep:
    def __init__(self) -> None:
        self._mine = threading.local()
        self._hooks: list[Any] = []  # of every thread

    def begin(
        self, optimizer: torch.optim.Optimizer, frame: FrameType, site: Site, tap: OperationTap
    ) -> None:
        """The tap is paused. A network that is called meanwhile is called by another line than the step's."""
        self.give_up()
        hook = modules.register_module_forward_pre_hook(lambda *_: attempt("step", self.look))
        self._hooks.append(hook)
        self._mine.begun = Begun(id(frame), frame.f_code, weakref.ref(optimizer), site, tap, hook)
        tap.pause()

    def end(self) -> bool:
        """Whether there was one to be ended."""
        begun: Begun | None = getattr(self._mine, "begun", None)
        if begun is None:
            return False
        self._mine.begun = None
        self._remove(begun.hook)
        begun.tap.resume()
        if (optimizer := begun.optimizer()) is not None:
            begun.tap.note_step(optimizer, begun.site)
        return True

    def close(self) -> None:
        """Nobody is traced any more."""
        self.give_up()
        for hook in list(self._hooks):
            self._remove(hook)

    def _remove(self, hook: Any) -> None:
        hook.remove()
        if hook in self._hooks:
            self._hooks.remove(hook)

    def look(self) -> None:
        """Whether it is still running; if not, it is over."""
        begun: Begun | None = getattr(self._mine, "begun", None)
        frame: FrameType | None = sys._getframe(1) if begun is not None else None
        while begun is not None and frame is not None:
            if id(frame) == begun.frame and frame.f_code is begun.code:
                return
            frame = frame.f_back
        self.give_up()

    def give_up(self) -> None:
        """It has ended without a word."""
        tap = begun.tap if (begun := getattr(self._mine, "begun", None)) is not None else None
        if self.end() and tap is not None:
            tap.recover()
