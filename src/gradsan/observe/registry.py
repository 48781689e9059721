"""Small numbers for parameters and optimizers, without keeping any of them alive."""

from __future__ import annotations

import heapq
import weakref
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Literal, NamedTuple

import torch
from torch.nn.parameter import is_lazy

from gradsan.observe.sites import Place, Sites
from gradsan.observe.training.sharded import is_followed, is_sharded, original_of
from gradsan.observe.unseen import is_readable
from gradsan.record.events import NOBODY, NOWHERE, Event, OptimizerId, ParamId, ParamReborn, ParamSeen, Site

MANY, MANY_OPTIMIZERS = 256, 32  # up to here every one has a number of its own
GradState = tuple[int, int] | None
UNKNOWN = Place(NOWHERE)
PLAIN = {torch.nn.Parameter, torch.Tensor}  # the classes that need no closer look


def grad_state(leaf: torch.Tensor) -> GradState:
    """Identity and version of `.grad`: two equal states mean that nobody touched it in between."""
    grad = leaf.grad
    return None if grad is None else (id(grad), grad._version)


class Leaves:
    """The leaf tensors seen so far, by number. An id may return with another tensor, a number does not; only
    a script that goes on making leaves gives the numbers of dead ones to new ones of their kind, so that
    neither the tables nor the trace grow with it."""

    def __init__(self, emit: Callable[[Event], None], reborn: Callable[[tuple[ParamId, ...]], None]) -> None:
        self._emit = emit
        self._reborn = reborn
        self._known: dict[int, tuple[weakref.ref[torch.Tensor], ParamId]] = {}
        self._refs: dict[ParamId, weakref.ref[torch.Tensor]] = {}
        self._storages: dict[int, ParamId] = {}
        self._kinds: dict[ParamId, Hashable] = {}
        self._free: dict[Hashable, list[ParamId]] = {}
        self._died: deque[tuple[int, ParamId]] = deque()
        self._unnamed: set[ParamId] = set()
        self.newcomers = (
            0  # of which somebody may know a name: all but leaves made where others were made before
        )
        self._made_at: set[Site] = set()
        self.version_after_step: dict[ParamId, int] = {}

    def pid(self, leaf: torch.Tensor, created: Place = UNKNOWN) -> ParamId:
        known = self._known.get(id(leaf))
        if known is not None and known[0]() is leaf:
            return known[1]
        if (original := original_of(leaf)) is not leaf:
            return self.pid(original, created)
        return self._add(leaf, created)

    def pids(self, leaves: Iterable[torch.Tensor]) -> tuple[ParamId, ...]:
        return tuple([self.pid(leaf) for leaf in leaves])

    def find(self, leaf: torch.Tensor) -> ParamId | None:
        known = self._known.get(id(leaf))
        if known is not None and known[0]() is leaf:
            return known[1]
        return self.find(original) if (original := original_of(leaf)) is not leaf else None

    def tensor(self, pid: ParamId) -> torch.Tensor | None:
        return self._refs[pid]()

    def parameters(self) -> list[tuple[ParamId, torch.nn.Parameter]]:
        """Those that are still there and can be read, leaves of other kinds left out."""
        found = ((pid, ref()) for pid, ref in self._refs.items())
        return [
            (pid, t)
            for pid, t in found
            if isinstance(t, torch.nn.Parameter) and not is_lazy(t) and is_readable(t)
        ]

    def by_storage(self, storage: int) -> ParamId | None:
        """The parameter whose memory this is, if it is still there."""
        pid = self._storages.get(storage)
        if pid is None or not self._owns(pid, storage):
            # Parameters move (`.to`, `.data = …`): look at all of them again before saying no.
            self._find_storages()
            pid = self._storages.get(storage)
        return pid

    def _find_storages(self) -> None:
        self._storages = {
            storage_of(t): p for p, ref in self._refs.copy().items() if (t := ref()) is not None
        }

    def peek_storage(self, storage: int) -> ParamId | None:
        """As `by_storage`, without looking again at every parameter."""
        pid = self._storages.get(storage)
        return pid if pid is not None and self._owns(pid, storage) else None

    def sharing(self, leaf: torch.Tensor) -> tuple[ParamId, ...]:
        """Other parameters that now live in the same memory, at the same place: not the next slice of a flat vector."""
        storage, own = storage_of(leaf), self.find(leaf)
        tensors = ((pid, ref()) for pid, ref in self._refs.copy().items() if pid != own)
        same = [(pid, t) for pid, t in tensors if t is not None and storage_of(t) == storage]
        return tuple(pid for pid, t in same if t.storage_offset() == leaf.storage_offset())

    def unnamed(self) -> dict[int, ParamId]:
        """By `id()`, those that nobody has found a name for."""
        return {id(t): pid for pid in self._unnamed.copy() if (t := self.tensor(pid)) is not None}

    def named(self, pids: Iterable[ParamId]) -> None:
        """Those that are gone will not be named any more."""
        self._unnamed = set(self.unnamed().values()).difference(pids)

    @property
    def some_are_unnamed(self) -> bool:
        return bool(self._unnamed)

    def _owns(self, pid: ParamId, storage: int) -> bool:
        leaf = self._refs[pid]()
        return leaf is not None and storage_of(leaf) == storage

    def _add(self, leaf: torch.Tensor, created: Place) -> ParamId:
        kind: Literal["parameter", "leaf", "sharded"]
        kind = "parameter" if isinstance(leaf, torch.nn.Parameter) else "leaf"
        if is_sharded(leaf):
            kind = "sharded"
        number = ParamId(len(self._refs) + 1)
        seen = ParamSeen(number, kind, shape_of(leaf), leaf.requires_grad, created.site, "", created.chain)
        pid = self._number_of_a_dead_one(seen[1:-1]) or seen.pid
        key, died = id(leaf), self._died
        ref = weakref.ref(leaf, lambda _: died.append((key, pid)))  # called anywhere: no more than this
        self._known[key] = (ref, pid)
        self._refs[pid] = ref
        if storage := storage_of(leaf):
            self._storages[storage] = pid
            if (
                len(self._storages) > 2 * len(self._refs) + MANY
            ):  # most of them belong to leaves that are gone
                self._find_storages()
        if pid == seen.pid:
            self._kinds[pid] = seen[1:-1]
            self._unnamed.add(pid)
            if kind != "leaf" or created.site not in self._made_at:
                self.newcomers += 1
                self._made_at.add(created.site)
            self._emit(seen)
        else:
            self._reborn((pid,))
            self._emit(ParamReborn(pid))
        return pid

    def _number_of_a_dead_one(self, kind: Hashable) -> ParamId:
        while self._died:
            key, pid = self._died.popleft()
            if (known := self._known.get(key)) is not None and known[1] == pid:
                del self._known[key]
            heapq.heappush(self._free.setdefault(self._kinds[pid], []), pid)
        free = self._free.get(kind)
        return heapq.heappop(free) if free and len(self._refs) >= MANY else NOBODY


def shape_of(tensor: torch.Tensor) -> tuple[int, ...]:
    """A parameter that waits for its first input has no shape yet."""
    if type(tensor) is not torch.Tensor and is_lazy(tensor):
        return ()
    try:
        return tuple(tensor.shape)
    except RuntimeError:  # nor has a nested tensor one
        return ()


def storage_of(tensor: torch.Tensor) -> int:
    """A key for the memory behind a tensor; 0 where it has none of its own (sparse, functorch, lazy, sharded)."""
    if type(tensor) is not torch.Tensor and is_sharded(tensor):
        return 0
    try:
        return int(tensor.untyped_storage()._cdata)
    except (RuntimeError, NotImplementedError, ValueError):
        return 0


class Optimizers:
    """Numbers for optimizers and, per optimizer, its parameters."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Any, OptimizerId] = weakref.WeakKeyDictionary()
        self._last = 0
        self._made: dict[OptimizerId, Hashable] = {}
        self._free: dict[Hashable, list[OptimizerId]] = {}
        self._died: deque[OptimizerId] = deque()
        self._gone: list[OptimizerId] = []  # whose end was told
        self._told: dict[tuple[OptimizerId, int], Event] = {}
        self._stepped: weakref.WeakSet[Any] = weakref.WeakSet()

    def oid(self, optimizer: torch.optim.Optimizer) -> OptimizerId | None:
        return self._known.get(optimizer)

    def add(self, optimizer: torch.optim.Optimizer, made: Hashable = None) -> OptimizerId:
        """A number for it: that of a dead one that was `made` in just the same way, where a script goes on
        making optimizers; else a new one, never given before."""
        oid = self._known.get(optimizer)
        if oid is None:
            while self._died and self._last >= MANY_OPTIMIZERS:
                self._free_number(self._died.popleft())
            free = self._free.get(made) if self._last >= MANY_OPTIMIZERS else None
            oid = heapq.heappop(free) if free else OptimizerId(self._last + 1)
            self._last = max(self._last, oid)
            self._known[optimizer], self._made[oid] = oid, made
            weakref.finalize(optimizer, self._died.append, oid).atexit = False
        return oid

    def _free_number(self, oid: OptimizerId) -> None:
        if oid not in self._gone:
            heapq.heappush(self._free.setdefault(self._made[oid], []), oid)

    def newly_gone(self) -> list[OptimizerId]:
        """Those that have died since the last time, of the first few; their numbers are never given again."""
        found: list[OptimizerId] = []
        while self._died:
            oid = self._died.popleft()
            if len(self._gone) < MANY_OPTIMIZERS:
                self._gone.append(oid)
                found.append(oid)
            else:
                self._free_number(oid)
        return found

    def is_told_already(self, oid: OptimizerId, group: int, event: Event) -> bool:
        told = self._told.get((oid, group)) == event
        self._told[oid, group] = event
        return told

    def alive(self) -> list[torch.optim.Optimizer]:
        return list(self._known)

    def is_idle(self, optimizer: torch.optim.Optimizer) -> bool:
        """Whether it was made and has not stepped yet."""
        return optimizer not in self._stepped

    def has_stepped(self, optimizer: torch.optim.Optimizer) -> None:
        self._stepped.add(optimizer)

    @staticmethod
    def params(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
        """Those that can be followed; of a sharded one no number is ever read."""
        found = (p for group in optimizer.param_groups for p in group["params"])
        return [p for p in found if type(p) in PLAIN or is_followed(p)]

    @classmethod
    def readable(cls, optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
        return [p for p in cls.params(optimizer) if is_readable(p)]


class Known(NamedTuple):
    """What has a number."""

    sites: Sites
    leaves: Leaves
    optimizers: Optimizers
