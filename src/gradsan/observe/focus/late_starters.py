"""Waiting for a loss that starts late: its first forward is to be traced, not only its first backward.

A policy that learns only after thousands of critic updates would have its first iterations go by in
passing. So while an optimizer has never stepped, or some of its parameters have never got a gradient, the
calls of the networks that hold them are watched: the first one with gradients on means that their time has
come. The watch is a global hook, never one on the user's modules: those get copied and pickled."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.nn.modules import module as modules

from gradsan.observe.last_resort import attempt
from gradsan.observe.slots import attributes_of, parameters_of


class LateStarters:
    def __init__(self, has_come: Callable[[], None]) -> None:
        self._has_come = has_come
        self._idle: set[int] = set()
        self._unfed: set[int] = set()
        self._have_come: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()
        self._others: dict[int, weakref.ref[torch.nn.Module]] = {}  # called, and not waited for
        self._hook: Any = None
        self._withdrawn: Any = None

    def wait_for(self, idle: Iterable[torch.Tensor], unfed: Iterable[torch.Tensor]) -> None:
        """Parameters whose optimizer has never stepped, and those whose optimizer steps without them."""
        self._idle, self._unfed = {id(param) for param in idle}, {id(param) for param in unfed}
        self._others.clear()
        if not self._idle and not self._unfed:
            self.stop_waiting()
        elif self._hook is None:
            look = self._called
            self._hook = modules.register_module_forward_pre_hook(
                lambda module, _: attempt("late", look, module)
            )

    def stop_waiting(self) -> None:
        if self._hook is not None:
            self._hook.remove()
            self._hook = None

    def withdraw(self) -> None:
        """A compiler must not see the hook: it would trace it with every network."""
        self._withdrawn = None if self._hook is None else self._hook.hooks_dict_ref().pop(self._hook.id, None)

    def come_back(self) -> None:
        if self._hook is not None and self._withdrawn is not None:
            self._hook.hooks_dict_ref()[self._hook.id] = self._withdrawn

    def _called(self, module: torch.nn.Module) -> None:
        key = id(module)
        if key in self._others or not torch.is_grad_enabled():
            return
        if self._is_waited_for(module):
            self._have_come.add(module)
            self.stop_waiting()
            self._has_come()
        else:
            self._others[key] = weakref.ref(module, lambda _: self._others.pop(key, None))

    def _is_waited_for(self, module: torch.nn.Module) -> bool:
        """A module that holds them deeper inside may be called every time for the sake of its other parts, and
        one whose optimizer steps without it may be computed and never learn: those are waited for once."""
        own = attributes_of(module).get("_parameters") or {}
        if any(id(param) in self._idle for param in own.values()):
            return True
        return module not in self._have_come and any(
            id(param) in self._idle or id(param) in self._unfed for param in parameters_of(module)
        )
