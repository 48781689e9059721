"""Small numbers for parameters and optimizers, without keeping any of them alive."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch

from gradsan.record.events import NOWHERE, Event, ParamSeen, Site

GradState = tuple[int, int] | None


def grad_state(leaf: torch.Tensor) -> GradState:
    """Identity and version of `.grad`: two equal states mean that nobody touched it in between."""
    grad = leaf.grad
    return None if grad is None else (id(grad), grad._version)


class Leaves:
    """The leaf tensors seen so far. A number is never given twice, even when an id is."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._known: dict[int, tuple[weakref.ref[torch.Tensor], int]] = {}
        self._refs: dict[int, weakref.ref[torch.Tensor]] = {}
        self._storages: dict[int, int] = {}
        self.unnamed: set[int] = set()

    def pid(self, leaf: torch.Tensor, created: Site = NOWHERE) -> int:
        known = self._known.get(id(leaf))
        if known is not None and known[0]() is leaf:
            return known[1]
        return self._add(leaf, created)

    def pids(self, leaves: Iterable[torch.Tensor]) -> tuple[int, ...]:
        return tuple([self.pid(leaf) for leaf in leaves])

    def find(self, leaf: torch.Tensor) -> int | None:
        known = self._known.get(id(leaf))
        return known[1] if known is not None and known[0]() is leaf else None

    def tensor(self, pid: int) -> torch.Tensor | None:
        return self._refs[pid]()

    def by_storage(self, storage: int) -> int | None:
        """The parameter whose memory this is, if it is still there."""
        pid = self._storages.get(storage)
        if pid is None or not self._owns(pid, storage):
            # Parameters move (`.to`, `.data = …`): look at all of them again before saying no.
            self._storages = {storage_of(t): p for p, ref in self._refs.items() if (t := ref()) is not None}
            pid = self._storages.get(storage)
        return pid

    def peek_storage(self, storage: int) -> int | None:
        """As `by_storage`, without looking again at every parameter."""
        pid = self._storages.get(storage)
        return pid if pid is not None and self._owns(pid, storage) else None

    def sharing(self, leaf: torch.Tensor) -> tuple[int, ...]:
        """Other parameters that now live in the same memory."""
        storage, own = storage_of(leaf), self.find(leaf)
        tensors = ((pid, ref()) for pid, ref in self._refs.items() if pid != own)
        return tuple(pid for pid, t in tensors if t is not None and storage_of(t) == storage)

    def _owns(self, pid: int, storage: int) -> bool:
        leaf = self._refs[pid]()
        return leaf is not None and storage_of(leaf) == storage

    def _add(self, leaf: torch.Tensor, created: Site) -> int:
        pid = len(self._refs) + 1
        ref = weakref.ref(leaf)
        self._known[id(leaf)] = (ref, pid)
        self._refs[pid] = ref
        if storage := storage_of(leaf):
            self._storages.setdefault(storage, pid)
        kind = "parameter" if isinstance(leaf, torch.nn.Parameter) else "leaf"
        self.unnamed.add(pid)
        self._emit(ParamSeen(pid, kind, shape_of(leaf), leaf.requires_grad, created))
        return pid


def shape_of(tensor: torch.Tensor) -> tuple[int, ...]:
    """A parameter that waits for its first input has no shape yet."""
    return () if torch.nn.parameter.is_lazy(tensor) else tuple(tensor.shape)


def storage_of(tensor: torch.Tensor) -> int:
    """A key for the memory behind a tensor; 0 where it has none of its own (sparse, functorch, lazy)."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except (RuntimeError, NotImplementedError, ValueError):
        return 0


class Optimizers:
    """Numbers for optimizers and, per optimizer, its parameters."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._stepped: weakref.WeakSet[Any] = weakref.WeakSet()

    def oid(self, optimizer: torch.optim.Optimizer) -> int | None:
        return self._known.get(optimizer)

    def add(self, optimizer: torch.optim.Optimizer) -> int:
        return self._known.setdefault(optimizer, len(self._known) + 1)

    def alive(self) -> list[torch.optim.Optimizer]:
        return list(self._known)

    def is_idle(self, optimizer: torch.optim.Optimizer) -> bool:
        """Whether it was made and has not stepped yet."""
        return optimizer not in self._stepped

    def has_stepped(self, optimizer: torch.optim.Optimizer) -> None:
        self._stepped.add(optimizer)

    @staticmethod
    def params(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
        return [p for group in optimizer.param_groups for p in group["params"]]
