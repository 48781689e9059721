"""Who wrote into which memory, and what the memory held when an operation kept it for backward."""

from __future__ import annotations

import weakref
from typing import NamedTuple

import torch

from gradsan.observe.ops.values import MAX_KNOWN, Tensor, version_of
from gradsan.observe.registry import Leaves, storage_of
from gradsan.observe.unseen import is_dense
from gradsan.record.events import ParamId, Site, ValueId

KEEP_OPERATIONS, KEEP_BETWEEN_LOOKS = 20_000, 500
KEEP_ADDRESSES = 20_000  # of memory that may be gone: how fast they add up is the allocator's choice
EVERY_ITERATION, SOME = 32, 8  # contents are compared in the first iterations, then in every eighth


class Write(NamedTuple):
    """One write. `hidden` writes (through `.data`) do not show in the version counter."""

    nid: ValueId
    site: Site
    name: str
    hidden: bool
    by_step: bool


class SavedTensor(NamedTuple):
    """A tensor that a differentiable operation may have kept, as it was at that moment."""

    storage: int
    where: int
    size: int
    version: int
    content: int | None
    """A digest, where contents are compared in this iteration."""
    in_order: bool = False
    """Memory that an array shares, and read as it lies there: what is only moved about has another digest, too."""

    def is_content_of(self, tensor: Tensor) -> bool:
        """Whether this memory, which begins where it began, holds what it held. True where nobody has read it."""
        return self.content in (None, content_of(tensor, self.in_order))


class Writes:
    def __init__(self, leaves: Leaves) -> None:
        self._leaves = leaves
        self.log: dict[int, list[Write]] = {}
        self.kept: dict[ValueId, tuple[SavedTensor, ...]] = {}
        self._hidden: dict[int, weakref.ref[Tensor]] = {}
        self._gradients: dict[int, ParamId] = {}
        self._owners: dict[int, ParamId] = {}
        self._seen: dict[int, tuple[weakref.ref[Tensor], SavedTensor]] = {}
        self.shared_with_numpy: dict[int, Site] = {}
        self.compares_contents = True

    def used(self, nid: ValueId, inputs: list[Tensor], out: Tensor, keeps_result: bool) -> None:
        kept = [self._keep(t) for t in inputs if t.dtype.is_floating_point or self._lies_in_array(t)]
        kept.append(self._keep(out) if keeps_result else SavedTensor(storage_of(out), 0, 0, 0, 0))
        self.kept[nid] = tuple(kept)

    def _keep(self, tensor: Tensor) -> SavedTensor:
        seen, version = self._seen.get(id(tensor)), version_of(tensor)
        if seen is not None and seen[0]() is tensor:
            kept = seen[1]
            if kept.version == version and kept.storage not in self.shared_with_numpy:
                return kept
        in_order = self._lies_in_array(tensor)
        content = content_of(tensor, in_order) if self.compares_contents else None
        kept = SavedTensor(storage_of(tensor), address_of(tensor), tensor.numel(), version, content, in_order)
        self._seen[id(tensor)] = (weakref.ref(tensor), kept)
        return kept

    def _lies_in_array(self, tensor: Tensor) -> bool:
        shared = tensor.is_cpu and storage_of(tensor) in self.shared_with_numpy
        return shared and is_dense(tensor) and tensor.is_contiguous()

    def wrote(self, tensor: Tensor, nid: ValueId, site: Site, name: str, by_step: bool = False) -> None:
        storage = storage_of(tensor)
        hidden = self._is_hidden(tensor)
        self.log.setdefault(storage, []).append(Write(nid, site, name, hidden, by_step))
        self._seen.pop(id(tensor), None)  # a fused step changes the content and not the version
        if hidden or name == "set_data":  # the version counter will not say that there is other content
            self.forget_contents()

    def forget_contents(self) -> None:
        """Hidden writes may have gone unseen: what was read before is no evidence any more."""
        self._seen.clear()

    def share_with_numpy(self, tensor: Tensor, site: Site) -> None:
        """An array sees the same memory, and writes through it are invisible to autograd."""
        if len(self.shared_with_numpy) > MAX_KNOWN:
            self.shared_with_numpy.clear()
        self.shared_with_numpy[storage_of(tensor)] = site

    def hide(self, alias: Tensor) -> None:
        """`alias` came from `.data`: writes through it are invisible to autograd."""
        self._hidden[id(alias)] = weakref.ref(alias)

    def _is_hidden(self, tensor: Tensor) -> bool:
        for candidate in (tensor, tensor._base):
            ref = self._hidden.get(id(candidate))
            if ref is not None and ref() is candidate:
                return True
        return False

    def is_gradient(self, grad: Tensor, pid: ParamId) -> None:
        self._gradients[storage_of(grad)] = pid
        self._owners[id(grad)] = pid

    def owner_of_gradient(self, grad: Tensor) -> ParamId | None:
        """The parameter that has this very tensor as its `.grad`, wherever its memory is."""
        pid = self._owners.get(id(grad))
        leaf = None if pid is None else self._leaves.tensor(pid)
        return pid if leaf is not None and leaf.grad is grad else None

    def gradient_of(self, tensor: Tensor) -> ParamId | None:
        """The parameter whose `.grad` this memory is."""
        pid = self._gradients.get(storage_of(tensor))
        if pid is None:
            return None
        leaf = self._leaves.tensor(pid)
        grad = None if leaf is None else leaf.grad
        return pid if grad is not None and storage_of(grad) == storage_of(tensor) else None

    def parameter_behind(self, tensor: Tensor) -> ParamId | None:
        return self._leaves.peek_storage(storage_of(tensor))

    def after(self, storage: int, nid: ValueId) -> list[Write]:
        return [w for w in self.log.get(storage, ()) if w.nid > nid]

    def end_of_iteration(self, iteration: int) -> None:
        self.compares_contents = iteration < EVERY_ITERATION or iteration % SOME == 0
        self.forget_contents()
        self._forget_dead()

    def _forget_dead(self) -> None:
        self._hidden = {k: v for k, v in self._hidden.copy().items() if v() is not None}
        if len(self.kept) > KEEP_OPERATIONS:
            self._forget_operations(KEEP_OPERATIONS // 2)
        for storage, log in list(self.log.items()):
            if len(log) > 64:
                self.log[storage] = log[-32:]
        for table in (self.log, self._gradients, self._owners):
            if len(table) > KEEP_ADDRESSES:
                table.clear()

    def forget_old(self) -> None:
        """A new look begins, perhaps long after the last one: else every look would leave something behind."""
        self.forget_contents()
        self._forget_operations(KEEP_BETWEEN_LOOKS)
        oldest = next(iter(self.kept), 0)
        self.log = {storage: log for storage, log in self.log.copy().items() if log[-1].nid > oldest}

    def _forget_operations(self, but: int) -> None:
        for nid in list(self.kept)[:-but]:
            self.kept.pop(nid, None)


def address_of(tensor: Tensor) -> int:
    """Where it begins; 0 where it has no memory of its own."""
    try:
        return tensor.data_ptr()
    except RuntimeError:
        return 0


def content_of(tensor: Tensor, in_order: bool = False) -> int:
    """A digest of the values, the same for every layout and view of the same memory."""
    if not is_dense(tensor):
        return 0
    plain = tensor.detach()
    try:
        if in_order:
            return hash(plain.as_strided((plain.numel(),), (1,)).view(torch.uint8).numpy().tobytes())
        value = _hash(plain).item()
    except (RuntimeError, NotImplementedError):
        value = _sum(plain).item()
    return _digest(value)


def _digest(value: float) -> int:
    return hash(value) if value == value else 1  # Python gives every NaN a hash of its own


def _sum(plain: Tensor) -> Tensor:
    return plain.double().sum()


# Older releases have no hash; a sum sees all but the most contrived changes.
_hash = getattr(torch, "hash_tensor", _sum)
