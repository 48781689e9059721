"""Taps on the functions that clip gradients."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, Literal

import torch

from gradsan.observe.containment import Containment
from gradsan.observe.focus.fast_path import FastPath
from gradsan.observe.focus.tracing import Tracing
from gradsan.observe.last_resort import attempt, own
from gradsan.observe.outlet import Outlet
from gradsan.observe.patches import Parts, Patches
from gradsan.observe.registry import Known
from gradsan.observe.sites import result_is_dropped
from gradsan.observe.training.magnitudes import Magnitudes
from gradsan.observe.training.sharded import is_followed
from gradsan.observe.unseen import is_readable
from gradsan.record.events import Clip, ParamId

How = Literal["norm", "value"]
Notice = Callable[[Iterable[ParamId], Iterable[torch.Tensor]], None]
CLIPS: dict[str, How] = {"clip_grad_norm_": "norm", "clip_grad_value_": "value"}


class ClipTap:
    def __init__(
        self, containment: Containment, outlet: Outlet, known: Known, tracing: Tracing,
        fast_path: FastPath, magnitudes: Magnitudes, notice_rewriting: Notice,
    ) -> None:  # fmt: skip
        self._contain, self._emit = containment.contain, outlet.emit
        self._sites, self._leaves = known.sites, known.leaves
        self._tracing = tracing
        self._fast_path = fast_path
        self._magnitudes = magnitudes
        self._notice_rewriting = notice_rewriting

    @property
    def parts(self) -> Parts:
        return (self._patch_clipping,)

    def _patch_clipping(self, patches: Patches) -> None:
        # The package re-exports the functions: both names must lead here.
        for name in CLIPS:
            original = getattr(torch.nn.utils.clip_grad, name)
            wrapper = self._wrapper(original, CLIPS[name])
            patches.set(torch.nn.utils.clip_grad, name, wrapper)
            patches.set(torch.nn.utils, name, wrapper)

    def _wrapper(self, original: Any, how: How) -> Any:
        passes, token, tracing = self._fast_path.passes, id(original), self._tracing
        first, second = list(inspect.signature(original).parameters)[:2]

        @functools.wraps(original)
        def clip(*args: Any, **kwargs: Any) -> Any:
            try:
                passing = passes(token)
            except Exception as error:
                own("clip", error)
                passing = True
            if passing:
                return original(*args, **kwargs)
            given = dict(zip((first, second), args, strict=False)) | kwargs
            if first not in given or second not in given:
                return original(*args, **kwargs)  # which says what is missing
            parameters, limit = given.pop(first), given.pop(second)
            was_generator = False
            # A generator can be read once only; the original gets the list we made of it.
            if type(parameters) not in (list, tuple) and not issubclass(type(parameters), torch.Tensor):
                was_generator = type(parameters) is types.GeneratorType
                parameters = list(parameters)
            self._contain("clip", self._clipping, parameters, how, limit, sys._getframe(1))
            # Of a generator without anything in it PyTorch warns; of an empty list it does not.
            again = (parameter for parameter in parameters) if was_generator else parameters
            resume = attempt("clip", tracing.pause)
            try:
                norm = original(again, limit, *args[2:], **given)
            finally:
                if resume is not None:
                    attempt("clip", resume)
            self._contain("clip", self._clipped, norm, limit)
            return norm

        return clip

    def _clipped(self, norm: Any, limit: Any) -> None:
        """`clip_grad_value_` does not say."""
        if issubclass(type(norm), torch.Tensor) and is_readable(norm) and float(limit) > 0:
            self._magnitudes.note_clipping(float(norm) / float(limit))

    def _clipping(self, parameters: Any, how: How, limit: Any, frame: FrameType) -> None:
        given = [parameters] if issubclass(type(parameters), torch.Tensor) else parameters
        params = [p for p in given if is_followed(p)]
        if given and not params:
            return
        pids = self._leaves.pids(params)
        held = tuple(pid for pid, p in zip(pids, params, strict=True) if p.grad is not None)
        self._notice_rewriting(pids, params)
        user = self._sites.user_frame(frame)
        dropped = user is not None and result_is_dropped(user)
        place = self._sites.place(frame)
        self._emit(Clip(place.site, how, pids, held, float(limit), dropped, place.chain))
