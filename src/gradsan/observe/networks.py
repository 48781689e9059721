"""Taps on networks as wholes: where parameters are made, copied, loaded, frozen."""

from __future__ import annotations

import functools
import sys
from types import FrameType
from typing import Any

import torch

from gradsan.observe.context import Context
from gradsan.observe.patches import Patches
from gradsan.observe.registry import storage_of
from gradsan.record.events import ParamFlag, Sync


class NetworkTap:
    def __init__(self, context: Context) -> None:
        self.context = context
        self._copying = 0

    def install(self, patches: Patches) -> None:
        self._patch_creation(patches)
        self._patch_deepcopy(patches)
        self._patch_load(patches)
        self._patch_freeze(patches)

    def _patch_creation(self, patches: Patches) -> None:
        contain = self.context.contain
        new = torch.nn.Parameter.__new__

        def parameter_new(cls: Any, *args: Any, **kwargs: Any) -> Any:
            made = new(cls, *args, **kwargs)
            contain("parameter", self._created, made, sys._getframe(1))
            return made

        patches.set(torch.nn.Parameter, "__new__", staticmethod(parameter_new))

    def _created(self, made: torch.Tensor, frame: FrameType) -> None:
        if not torch.nn.parameter.is_lazy(made):  # those are met when they have got their shape
            self.context.leaves.pid(made, self.context.sites.here(frame))
            if self.context.fast_path.on and not self._copying:  # a layer that takes the place of another?
                self.context.on_news("parameters made while training")

    def _patch_deepcopy(self, patches: Patches) -> None:
        contain = self.context.contain
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
        leaves, site = self.context.leaves, self.context.sites.here(frame)
        pair = (leaves.pid(copied, site), leaves.pid(source))
        self.context.emit(Sync(site, "deepcopy", (pair,)))

    def _patch_load(self, patches: Patches) -> None:
        contain = self.context.contain
        original = torch.nn.Module.load_state_dict

        @functools.wraps(original)
        def load_state_dict(module: Any, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
            with self.context.paused():
                result = original(module, state_dict, *args, **kwargs)
            contain("load_state_dict", self._loaded, module, state_dict, sys._getframe(1))
            return result

        patches.set(torch.nn.Module, "load_state_dict", load_state_dict)

    def _loaded(self, module: torch.nn.Module, state: Any, frame: FrameType) -> None:
        context, pairs, nids, aliased = self.context, [], [], False
        for name, param in module.named_parameters():
            source = state.get(name)
            if not isinstance(source, torch.Tensor):
                continue
            storage = storage_of(source)
            aliased = aliased or storage == storage_of(param)
            pairs.append((context.leaves.pid(param), context.leaves.by_storage(storage) or 0))
            operations = context.operations
            nids.append((operations.values.find(source) if operations is not None else 0) or 0)
        site = context.sites.here(frame)
        context.emit(Sync(site, "load_state_dict", tuple(pairs), aliased, tuple(nids)))

    def _patch_freeze(self, patches: Patches) -> None:
        contain = self.context.contain
        original = torch.nn.Module.requires_grad_

        @functools.wraps(original)
        def requires_grad_(module: Any, requires_grad: bool = True) -> Any:
            contain("freeze", self._frozen, module, requires_grad, sys._getframe(1))
            with self.context.paused():
                return original(module, requires_grad)

        patches.set(torch.nn.Module, "requires_grad_", requires_grad_)

    def _frozen(self, module: torch.nn.Module, flag: bool, frame: FrameType) -> None:
        site = self.context.sites.here(frame)
        for param in module.parameters():
            if param.requires_grad != flag:
                self.context.emit(ParamFlag(self.context.leaves.pid(param), flag, site))
                if self.context.operations is not None:  # what is read from now on is live, or no longer so
                    self.context.operations.values.forget(param)
