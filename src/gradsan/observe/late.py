"""Waiting for a loss that starts late: its first forward is to be traced, not only its first backward.

A policy that learns only after thousands of critic updates would have its first iterations go by in
passing. So while an optimizer has never stepped, or some of its parameters have never got a gradient, the
calls of the networks that own them are watched: the first one with gradients on means that their time has
come. The watch is a global hook, never one on the user's modules: those get copied and pickled."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.modules import module as modules


class LateStarters:
    def __init__(self, has_come: Callable[[], None]) -> None:
        self._has_come = has_come
        self._owner_of: dict[int, weakref.ref[torch.nn.Module]] = {}
        self._waiting: set[int] = set()
        self._have_come: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()
        self._handles: list[Any] = []
        self._hook: Any = None

    def install(self) -> None:
        self._handles.append(modules.register_module_parameter_registration_hook(self._registered))

    def remove(self) -> None:
        self.stop_waiting()
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def _registered(self, module: torch.nn.Module, name: str, param: Any) -> None:
        if param is not None:
            self._owner_of[id(param)] = weakref.ref(module)

    def wait_for(self, idle: list[torch.Tensor], unfed: list[torch.Tensor]) -> None:
        """Watch the modules that own these parameters, if there are any. One whose optimizer steps without it
        may be computed every time and never learn: it is waited for once."""
        self._waiting = {id(owner) for param in idle if (owner := self._owner(param)) is not None}
        for param in unfed:
            owner = self._owner(param)
            if owner is not None and owner not in self._have_come:
                self._waiting.add(id(owner))
        if self._waiting and self._hook is None:
            self._hook = modules.register_module_forward_pre_hook(self._called)
        elif not self._waiting:
            self.stop_waiting()

    def _owner(self, param: torch.Tensor) -> torch.nn.Module | None:
        ref = self._owner_of.get(id(param))
        owner = ref() if ref is not None else None
        return owner if owner is not None and any(p is param for p in owner._parameters.values()) else None

    def stop_waiting(self) -> None:
        if self._hook is not None:
            self._hook.remove()
            self._hook = None

    def _called(self, module: torch.nn.Module, args: Any) -> None:
        if id(module) in self._waiting and torch.is_grad_enabled():
            self._have_come.add(module)
            self.stop_waiting()
            self._has_come()
