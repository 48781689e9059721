"""Taps on networks as wholes: where parameters are made, copied, loaded, frozen."""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
from torch.nn.modules.module import _IncompatibleKeys

from gradsan.observe.containment import Containment
from gradsan.observe.focus.fast_path import FastPath
from gradsan.observe.focus.tracing import Tracing
from gradsan.observe.last_resort import attempt
from gradsan.observe.outlet import Outlet
from gradsan.observe.patches import Parts, Patches
from gradsan.observe.registry import Known, storage_of
from gradsan.observe.slots import named_parameters_of, pairs_of, parameters_of
from gradsan.observe.training.sharded import is_followed, is_whole_made
from gradsan.observe.unseen import is_readable
from gradsan.record.events import NOBODY, NOTHING, Copy, ParamFlag, ParamId, Reason, Sync

SOME = 8  # parameters of a network that are compared


class NetworkTap:
    def __init__(
        self, containment: Containment, outlet: Outlet, known: Known, tracing: Tracing,
        fast_path: FastPath, news: Callable[[Reason], None],
    ) -> None:  # fmt: skip
        self._contain, self._emit = containment.contain, outlet.emit
        self._sites, self._leaves = known.sites, known.leaves
        self._tracing = tracing
        self._fast_path = fast_path
        self._news = news
        self._copying = 0
        self._thawed: set[ParamId] = set()

    @property
    def parts(self) -> Parts:
        return self._patch_creation, self._patch_deepcopy, self._patch_load, self._patch_freeze

    def _patch_creation(self, patches: Patches) -> None:
        contain = self._contain
        new = torch.nn.Parameter.__new__

        @functools.wraps(new)
        def parameter_new(cls: Any, *args: Any, **kwargs: Any) -> Any:
            made = new(cls, *args, **kwargs)
            contain("parameter", self._created, made, sys._getframe(1))
            return made

        patches.set(torch.nn.Parameter, "__new__", staticmethod(parameter_new))

    def _created(self, made: torch.Tensor, frame: FrameType) -> None:
        if is_whole_made() or not is_followed(made):
            return
        if not torch.nn.parameter.is_lazy(made):  # those are met when they have got their shape
            self._leaves.pid(made, self._sites.place(frame))
            if (
                self._tracing.tap is None and not self._copying
            ):  # another phase, or a layer in another's place?
                self._news("new parameters")

    def _patch_deepcopy(self, patches: Patches) -> None:
        contain = self._contain
        original: Any = torch.nn.Parameter.__deepcopy__

        @functools.wraps(original)
        def deepcopy(param: Any, memo: Any) -> Any:
            known = id(param) in memo
            self._copying += 1
            try:
                copied = original(param, memo)
            finally:
                self._copying -= 1
            if not known:
                contain("deepcopy", self._copied, copied, param, sys._getframe(1))
            return copied

        patches.set(torch.nn.Parameter, "__deepcopy__", deepcopy)

    def _copied(self, copied: torch.Tensor, source: torch.Tensor, frame: FrameType) -> None:
        if not (is_readable(copied) and is_readable(source)):
            return
        leaves, place = self._leaves, self._sites.place(frame)
        pair = Copy(leaves.pid(copied, place), leaves.pid(source))
        self._emit(Sync(place.site, "deepcopy", (pair,), passed=self._passed()))

    def _patch_load(self, patches: Patches) -> None:
        contain, tracing = self._contain, self._tracing
        original = torch.nn.Module.load_state_dict

        @functools.wraps(original)
        def load_state_dict(module: Any, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
            resume = attempt("load_state_dict", tracing.pause)
            before = attempt("load_state_dict", _sizes, module)
            try:
                result = original(module, state_dict, *args, **kwargs)
                still = bool(before) and attempt("load_state_dict", _sizes, module) == before
            finally:
                if resume is not None:
                    attempt("load_state_dict", resume)
            misfit = attempt("load_state_dict", _fits_nothing, state_dict, result) or False
            contain("load_state_dict", self._loaded, module, state_dict, still, misfit, sys._getframe(1))
            return result

        patches.set(torch.nn.Module, "load_state_dict", load_state_dict)

    def _loaded(
        self, module: torch.nn.Module, state: Any, still: bool, misfit: bool, frame: FrameType
    ) -> None:
        pairs, nids, aliased = [], [], False
        own = {self._leaves.find(param) for param in parameters_of(module)}
        given = dict(pairs_of(state)) if issubclass(type(state), dict) else {}
        for name, param in named_parameters_of(module):
            source: Any = given.get(name)
            if not issubclass(type(source), torch.Tensor) or not (is_readable(source) and is_readable(param)):
                continue
            storage = storage_of(source)
            shared = bool(storage) and storage == storage_of(param)
            aliased = aliased or shared
            # What is assigned, not copied, is another parameter's memory as well as this one's.
            others = [pid for pid in self._leaves.sharing(param) if pid not in own] if shared else []
            found = others[0] if others else self._leaves.by_storage(storage)
            pairs.append(Copy(self._leaves.pid(param), found or NOBODY))
            nids.append(self._tracing.find(source) or NOTHING)
        place, passed = self._sites.place(frame), self._passed()
        missed = tuple(sorted(pid for pid in own if pid is not None)) if misfit else ()
        made = tuple(pairs), aliased, tuple(nids), passed, place.chain, still, missed
        self._emit(Sync(place.site, "load_state_dict", *made))

    def _passed(self) -> int:
        """Iterations let through that nobody has been told of; they are told first where the fast lane is left."""
        return self._fast_path.skipped if self._fast_path.on else 0

    def _patch_freeze(self, patches: Patches) -> None:
        contain, tracing = self._contain, self._tracing
        original = torch.nn.Module.requires_grad_

        @functools.wraps(original)
        def requires_grad_(module: Any, requires_grad: bool = True) -> Any:
            contain("freeze", self._frozen, module, requires_grad, sys._getframe(1))
            resume = attempt("freeze", tracing.pause)
            try:
                return original(module, requires_grad)
            finally:
                if resume is not None:
                    attempt("freeze", resume)

        patches.set(torch.nn.Module, "requires_grad_", requires_grad_)

    def _frozen(self, module: torch.nn.Module, flag: bool, frame: FrameType) -> None:
        place, thawed = self._sites.place(frame), set[ParamId]()
        for param in filter(is_followed, parameters_of(module)):
            if param.requires_grad != flag:
                pid = self._leaves.pid(param)
                self._emit(ParamFlag(pid, flag, place.site, place.chain))
                self._tracing.forget(param)  # what is read from now on is live, or no longer so
                thawed |= {pid} if flag else set()
        if not thawed <= self._thawed:  # for the first time; many freeze a critic for every loss of the actor
            self._thawed |= thawed
            self._news("late network")


def _fits_nothing(state: Any, result: Any) -> bool:
    """Whether not one of the names was the network's own, and nobody was to complain (`strict=False`)."""
    if type(result) is not _IncompatibleKeys or not issubclass(type(state), dict):
        return False
    return 0 < dict.__len__(state) == len(result.unexpected_keys)


def _sizes(module: torch.nn.Module) -> list[float]:
    """The norms of some of its weights: two networks that have all of them in common are one."""
    some = [p.detach() for p in itertools.islice(filter(_has_size, parameters_of(module)), SOME)]
    return [float(norm) for norm in torch._foreach_norm(some)] if some else []


def _has_size(param: torch.Tensor) -> bool:
    plain = is_readable(param) and is_followed(param) and param.is_floating_point()
    return plain and not param.is_meta and not param.is_sparse and param.numel() > 0
