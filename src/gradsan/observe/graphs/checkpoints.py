"""A tap on reentrant checkpointing: what it runs without gradient, although there is something inside to train."""

from __future__ import annotations

import functools
import sys
from types import FrameType
from typing import Any

import torch
from torch.utils.checkpoint import CheckpointFunction

from gradsan.observe.containment import Containment
from gradsan.observe.outlet import Outlet
from gradsan.observe.patches import Parts, Patches
from gradsan.observe.registry import Known
from gradsan.record.events import DeadCheckpoint, Site


class CheckpointTap:
    def __init__(self, containment: Containment, outlet: Outlet, known: Known) -> None:
        self._contain, self._emit = containment.contain, outlet.emit
        self._sites, self._leaves = known.sites, known.leaves
        self._told: set[Site] = set()

    @property
    def parts(self) -> Parts:
        return (self._patch,)

    def _patch(self, patches: Patches) -> None:
        inherited: Any = super(CheckpointFunction, CheckpointFunction)

        @functools.wraps(CheckpointFunction.apply)
        def apply(function: Any, preserve: Any, *args: Any) -> Any:
            if torch.is_grad_enabled() and not any(
                isinstance(a, torch.Tensor) and a.requires_grad for a in args
            ):
                self._contain("checkpoint", self._without_input, function, sys._getframe(1))
            return inherited.apply(function, preserve, *args)

        patches.set(CheckpointFunction, "apply", apply, rests=True)

    def _without_input(self, function: Any, frame: FrameType) -> None:
        site = self._sites.here(frame)
        if site not in self._told:
            self._told.add(site)
            inside = [p for m in _modules(function) for p in m.parameters() if p.requires_grad]
            self._emit(DeadCheckpoint(site, self._leaves.pids(inside)))


def _modules(function: Any) -> list[torch.nn.Module]:
    """The network that is run, where that is plain to see: itself, a method of it, or one with arguments bound."""
    while isinstance(function, functools.partial):
        function = function.func
    owner = getattr(function, "__self__", function)
    return [owner] if isinstance(owner, torch.nn.Module) else []
