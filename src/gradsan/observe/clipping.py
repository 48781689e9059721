"""Taps on the functions that clip gradients."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch

from gradsan.observe.context import Context
from gradsan.observe.patches import Patches
from gradsan.observe.sites import result_is_dropped
from gradsan.record.events import Clip

CLIPS = {"clip_grad_norm_": "norm", "clip_grad_value_": "value"}


def iter_of(parameters: list[torch.Tensor]) -> Iterator[torch.Tensor]:
    yield from parameters


class ClipTap:
    def __init__(self, context: Context) -> None:
        self.context = context

    def install(self, patches: Patches) -> None:
        # The package re-exports the functions: both names must lead here.
        for name in CLIPS:
            original = getattr(torch.nn.utils.clip_grad, name)
            wrapper = self._wrapper(original, CLIPS[name])
            patches.set(torch.nn.utils.clip_grad, name, wrapper)
            patches.set(torch.nn.utils, name, wrapper)

    def _wrapper(self, original: Any, how: str) -> Any:
        fast_path, token, charts = self.context.fast_path, id(original), self.context.charts
        first, second = list(inspect.signature(original).parameters)[:2]

        @functools.wraps(original)
        def clip(*args: Any, **kwargs: Any) -> Any:
            if fast_path.on and (node := fast_path.node.get(token)) is not None:
                fast_path.node = node
                norm = original(*args, **kwargs)
                if charts.on:
                    limit = args[1] if len(args) > 1 else kwargs.get(second)
                    self.context.contain("charts", self._clipped, norm, limit)
                return norm
            fast_path.end()
            fast_path.note(token)
            given = dict(zip((first, second), args, strict=False)) | kwargs
            if first not in given or second not in given:
                return original(*args, **kwargs)  # which says what is missing
            parameters, limit = given.pop(first), given.pop(second)
            was_generator = False
            # A generator can be read once only; the original gets the list we made of it.
            if not isinstance(parameters, torch.Tensor | list | tuple):
                was_generator = isinstance(parameters, types.GeneratorType)
                parameters = list(parameters)
            self.context.contain("clip", self._clipping, parameters, how, limit, sys._getframe(1))
            with self.context.paused():
                # Of a generator without anything in it PyTorch warns; of an empty list it does not.
                norm = original(
                    iter_of(parameters) if was_generator else parameters, limit, *args[2:], **given
                )
            self.context.contain("clip", self._clipped, norm, limit)
            return norm

        return clip

    def _clipped(self, norm: Any, limit: Any) -> None:
        """How far above the limit the gradient was; `clip_grad_value_` does not say."""
        if isinstance(norm, torch.Tensor) and float(limit) > 0:
            share = float(norm) / float(limit)
            self.context.magnitudes.clipped = self.context.charts.clipped = share

    def _clipping(self, parameters: Any, how: str, limit: Any, frame: FrameType) -> None:
        context = self.context
        params = [parameters] if isinstance(parameters, torch.Tensor) else parameters
        pids = context.leaves.pids(params)
        held = tuple(pid for pid, p in zip(pids, params, strict=True) if p.grad is not None)
        user = context.sites.user_frame(frame)
        dropped = user is not None and result_is_dropped(user)
        context.emit(Clip(context.sites.here(frame), how, pids, held, float(limit), dropped))
