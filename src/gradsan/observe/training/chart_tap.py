"""For whoever draws charts: the magnitudes of every update of a short run, and of ever fewer of a long one.

It stands beside the other taps, looks also while they let repetitions through, and tells them nothing: drawing
changes no finding, and without drawing nothing is paid.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
from torch.optim import optimizer as optim

from gradsan.observe.containment import Containment
from gradsan.observe.focus.loss_lines import value_of
from gradsan.observe.outlet import Recording
from gradsan.observe.patches import Parts, Patches
from gradsan.observe.registry import Known
from gradsan.observe.training.magnitudes import Magnitudes, StepReading, for_charts, has_dense_gradient
from gradsan.record.events import ChartPoint


class ChartTap:
    """To be installed before the others: its wrappers are then the inner ones, and see the iteration's number
    before it is counted on."""

    def __init__(
        self, containment: Containment, sink: Recording, known: Known, now: Callable[[], int]
    ) -> None:
        self._contain, self._emit = containment.contain, sink.emit
        self._known = known
        self._magnitudes = Magnitudes(known.leaves, now, for_charts)
        self._taken: StepReading | None = None
        self._hooks: list[Any] = []

    @property
    def parts(self) -> Parts:
        return self._patch_backward, self._patch_clipping, self._hook_steps

    def remove(self) -> None:
        for hook in self._hooks:
            hook.remove()

    def _patch_backward(self, patches: Patches) -> None:
        original = torch.autograd.backward

        @functools.wraps(original)
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            self._contain("charts", self._note_loss, tensors, sys._getframe(1))
            return original(tensors, *args, **kwargs)

        patches.set(torch.autograd, "backward", backward)

    def _note_loss(self, loss: Any, frame: FrameType) -> None:
        self._magnitudes.note_loss(self._known.sites.here(frame), value_of(loss))

    def _patch_clipping(self, patches: Patches) -> None:
        original: Any = torch.nn.utils.clip_grad.clip_grad_norm_

        @functools.wraps(original)
        def clip_grad_norm_(*args: Any, **kwargs: Any) -> Any:
            norm = original(*args, **kwargs)
            limit = args[1] if len(args) > 1 else kwargs.get("max_norm")
            self._contain("charts", self._note_clipping, norm, limit)
            return norm

        for module in (torch.nn.utils.clip_grad, torch.nn.utils):
            patches.set(module, "clip_grad_norm_", clip_grad_norm_)

    def _note_clipping(self, norm: torch.Tensor, limit: Any) -> None:
        if float(limit) > 0:
            self._magnitudes.note_clipping(float(norm) / float(limit))

    def _hook_steps(self, patches: Patches) -> None:
        contain = self._contain
        self._hooks = [
            optim.register_optimizer_step_pre_hook(lambda opt, *_: contain("charts", self._before, opt)),
            optim.register_optimizer_step_post_hook(lambda opt, *_: contain("charts", self._after, opt)),
        ]

    def _before(self, opt: torch.optim.Optimizer) -> None:
        oid = self._known.optimizers.oid(opt)
        if oid is not None and self._magnitudes.is_due(oid):
            params = [p for p in self._known.optimizers.params(opt) if has_dense_gradient(p)]
            self._taken = self._magnitudes.before_step(params)

    def _after(self, opt: torch.optim.Optimizer) -> None:
        oid, taken, self._taken = self._known.optimizers.oid(opt), self._taken, None
        if taken is not None and oid is not None:
            self._emit(ChartPoint(self._magnitudes.after_step(oid, taken)))
