"""Taps on the loss scaler of mixed precision: what it scales, what it divides by the scale again, and when."""

from __future__ import annotations

import functools
import sys
from types import FrameType
from typing import Any

import torch

from gradsan.observe.containment import Containment
from gradsan.observe.outlet import Outlet
from gradsan.observe.patches import Parts, Patches
from gradsan.observe.registry import Known
from gradsan.record.events import NO_OPTIMIZER, Scaling, ScalingCall


class ScalerTap:
    """All of it rests while the script only repeats itself."""

    def __init__(self, containment: Containment, outlet: Outlet, known: Known) -> None:
        self._contain, self._emit = containment.contain, outlet.emit
        self._sites, self._leaves, self._optimizers = known
        self._stepping = False  # its `step` unscales by itself what nobody has unscaled before
        self._asked = False
        self._get_scale = torch.amp.GradScaler.get_scale

    @property
    def parts(self) -> Parts:
        return self._patch_scale, self._patch_unscale, self._patch_step, self._patch_get_scale

    def _patch_scale(self, patches: Patches) -> None:
        original = torch.amp.GradScaler.scale

        @functools.wraps(original)
        def scale(scaler: Any, outputs: Any) -> Any:
            self._contain("loss scaler", self._before_scale, scaler, outputs, sys._getframe(1))
            return original(scaler, outputs)

        patches.set(torch.amp.GradScaler, "scale", scale, rests=True)

    def _patch_unscale(self, patches: Patches) -> None:
        original = torch.amp.GradScaler.unscale_

        @functools.wraps(original)
        def unscale_(scaler: Any, optimizer: Any) -> None:
            if not self._stepping:
                self._contain("loss scaler", self._dividing, scaler, "unscale_", optimizer, sys._getframe(1))
            original(scaler, optimizer)

        patches.set(torch.amp.GradScaler, "unscale_", unscale_, rests=True)

    def _patch_step(self, patches: Patches) -> None:
        original = torch.amp.GradScaler.step

        @functools.wraps(original)
        def step(scaler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            self._contain("loss scaler", self._before_step, scaler, optimizer, sys._getframe(1))
            self._stepping = True
            try:
                return original(scaler, optimizer, *args, **kwargs)
            finally:
                self._stepping = self._asked = False

        patches.set(torch.amp.GradScaler, "step", step, rests=True)

    def _patch_get_scale(self, patches: Patches) -> None:
        """Who has read the scale may have multiplied the limit by it, and may be right."""
        original = torch.amp.GradScaler.get_scale

        @functools.wraps(original)
        def get_scale(scaler: Any) -> float:
            self._asked = True
            return original(scaler)

        patches.set(torch.amp.GradScaler, "get_scale", get_scale, rests=True)

    def _before_scale(self, scaler: Any, outputs: Any, frame: FrameType) -> None:
        if (scale := self._scale_of(scaler)) is None:
            return
        finite = not isinstance(outputs, torch.Tensor) or bool(outputs.detach().isfinite().all())
        self._emit(Scaling(self._sites.here(frame), "scale", scale, asked=self._asked, finite=finite))

    def _before_step(self, scaler: Any, optimizer: Any, frame: FrameType) -> None:
        if not scaler.is_enabled():
            return
        state = scaler._per_optimizer_states.get(id(optimizer))  # no `[]`, which would make an entry
        if state is None or state["stage"].name == "READY":
            self._dividing(scaler, "step", optimizer, frame)

    def _dividing(self, scaler: Any, call: ScalingCall, optimizer: Any, frame: FrameType) -> None:
        if (scale := self._scale_of(scaler)) is None:
            return
        oid = self._optimizers.oid(optimizer) or NO_OPTIMIZER
        pids = self._leaves.pids(self._optimizers.params(optimizer))
        self._emit(Scaling(self._sites.here(frame), call, scale, oid, pids, self._asked))

    def _scale_of(self, scaler: Any) -> float | None:
        """Nothing where it changes nothing."""
        if not scaler.is_enabled():
            return None
        scale = float(self._get_scale(scaler))
        return scale if scale != 1.0 else None
