"""Numbers for tensor values: which node of the provenance graph a tensor holds right now."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from threading import get_ident
from typing import Any

import torch

from gradsan.observe.graphs.graph import node_of, traced_before, walk
from gradsan.observe.registry import Leaves, shape_of, storage_of
from gradsan.observe.slots import SEQUENCES, is_array, is_plain_of_numpy, items_of, memory_of
from gradsan.observe.unseen import is_dense, is_readable
from gradsan.record.events import NOWHERE, PLAIN, Op, OpFacts, OpKind, ValueId

Tensor = torch.Tensor
MAX_KNOWN = 50_000
KIND_OF_DATA: OpKind = "data"
NEVER_RETURN = {int, bool, str, type(None), slice, type(...), torch.dtype, torch.device, Tensor}


def version_of(tensor: Tensor) -> int:
    """The version counter; inference tensors have none."""
    try:
        return tensor._version
    except RuntimeError:
        return -1


def versions_of(tensors: list[Tensor]) -> list[int]:
    try:
        return [tensor._version for tensor in tensors]
    except RuntimeError:
        return [version_of(tensor) for tensor in tensors]


class Unreadable(Exception):
    """A tensor that only its own class can read."""


class Values:
    """Remembers by weak reference, so that nothing lives longer for being watched."""

    def __init__(
        self,
        leaves: Leaves,
        record: Callable[[Op], None],
        recognise: Callable[[Tensor], tuple[ValueId, ...]] = lambda tensor: (),
    ) -> None:
        self._leaves = leaves
        self._record = record
        self._recognise = recognise
        self._known: dict[int, tuple[weakref.ref[Tensor], ValueId, int]] = {}
        self._writers: dict[int, tuple[ValueId, ...]] = {}
        self._last = 0
        self._iteration = 0
        self._born: dict[ValueId, tuple[int, int]] = {}
        self._thread, self._threads_mix = 0, False  # that makes values with a graph
        self.reaches_back = 0  # through so many iterations the longest graph that was carried on

    @property
    def newest(self) -> int:
        return self._last

    def fresh(self) -> ValueId:
        # Calling a `NewType` is one call more, for every value.
        last = self._last = self._last + 1
        return last  # type: ignore[return-value]

    def number(self, tensor: Tensor) -> ValueId:
        """The node for the tensor's present value, made on the spot if it was never seen."""
        known = self._known.get(id(tensor))
        if known is None or known[0]() is not tensor:
            return self._source(tensor)
        if known[2] != version_of(tensor):
            return self._rewritten(tensor, known[1])
        return known[1]

    def read(self, tensors: list[Tensor]) -> tuple[tuple[ValueId, ...], list[int]]:
        """The numbers of all these, and their versions."""
        known, numbers = self._known, []
        for tensor in tensors:
            seen = known.get(id(tensor))
            try:
                usual = seen is not None and seen[0]() is tensor and seen[2] == tensor._version
            except RuntimeError:  # an inference tensor
                usual = False
            # What cannot be read is refused there.
            numbers.append(seen[1] if usual and seen is not None else self.number(tensor))
        return tuple(numbers), versions_of(tensors)

    def find(self, tensor: Tensor) -> ValueId | None:
        known = self._known.get(id(tensor))
        return known[1] if known is not None and known[0]() is tensor else None

    def define(self, tensor: Tensor, nid: ValueId) -> None:
        self._known[id(tensor)] = (weakref.ref(tensor), nid, version_of(tensor))

    def carried(self, nid: ValueId, inputs: Iterable[ValueId]) -> int:
        """Through how many iterations the graph behind this value reaches, where this very operation
        takes something with a graph over from an earlier iteration; 0 where it does not."""
        depth, crosses = 0, False
        if get_ident() != self._thread:  # another's iteration ends in the middle of ours
            self._threads_mix, self._thread = self._thread != 0, get_ident()
        for source in inputs:
            born = self._born.get(source)
            if born is not None:
                older = born[0] < self._iteration and not self._threads_mix
                crosses = crosses or older
                depth = max(depth, born[1] + older)
        self._born[nid] = (self._iteration, min(depth, 12))
        if crosses and depth > self.reaches_back:
            self.reaches_back = depth
        return min(depth, 12) if crosses else 0

    def alive_with_graph(self) -> Iterator[tuple[Tensor, ValueId, int]]:
        """Values that are still there and have a graph, with the traced iteration that made them."""
        for ref, nid, _ in list(self._known.values()):
            born, tensor = self._born.get(nid), ref()
            if born is not None and tensor is not None and node_of(tensor) is not None:
                yield tensor, nid, born[0]

    @property
    def traced(self) -> int:
        """How many iterations were traced so far."""
        return self._iteration

    def wrote(self, tensor: Tensor, nid: ValueId) -> None:
        """An operation wrote into the tensor's memory: other views of it now hold something new."""
        self.define(tensor, nid)
        storage = storage_of(tensor)
        if storage:
            self._writers[storage] = (*self._writers.get(storage, ())[-7:], nid)

    def forget(self, tensor: Tensor) -> None:
        self._known.pop(id(tensor), None)

    def forget_leaves(self) -> None:
        """Parameters are read anew: nobody watched who wrote them."""
        for key, known in list(self._known.items()):
            tensor = known[0]()
            if tensor is not None and self._leaves.find(tensor) is not None:
                del self._known[key]

    def end_of_iteration(self) -> int:
        """The number of the one that begins."""
        self._iteration += 1
        self._forget_dead()
        return self._iteration

    def _forget_dead(self) -> None:
        # Copies: other threads go on defining values meanwhile.
        self._known = {key: known for key, known in self._known.copy().items() if known[0]() is not None}
        alive = {known[1] for known in self._known.copy().values()}
        self._born = {nid: born for nid, born in self._born.copy().items() if nid in alive}
        if len(self._writers) > MAX_KNOWN:
            self._writers.clear()

    def _source(self, tensor: Tensor) -> ValueId:
        if not is_readable(tensor):
            raise Unreadable
        nid = self.fresh()
        kind, facts, live = KIND_OF_DATA, PLAIN, tensor.requires_grad
        made_of: tuple[ValueId, ...] = ()
        pid = self._leaves.find(tensor)
        if pid is None and live and tensor.is_leaf:
            pid = self._leaves.pid(tensor)
        if pid is not None:
            kind, facts = "parameter", OpFacts(pid=pid)
        elif live:
            kind, facts = "foreign", OpFacts(leads_to=self._leaves.pids(walk((tensor,)).leaves))
            made_of = traced_before(tensor)
        elif isinstance(tensor._base, Tensor) and (base := self.find(tensor._base)) is not None:
            return self._derived(tensor, "alias", (base,))
        elif is_floating(tensor) and (returned := self._recognise(tensor)):
            return self._derived(tensor, "tensor", returned)
        return self._add(
            Op(nid, "", NOWHERE, made_of, live, shape_of(tensor), is_floating(tensor), (), facts, kind),
            tensor,
        )

    def _rewritten(self, tensor: Tensor, old: ValueId) -> ValueId:
        if self._leaves.find(tensor) is not None:
            return self._source(tensor)
        # Older writes are in the value that it had, or were in memory that was somebody else's then.
        later = [nid for nid in self._writers.get(storage_of(tensor), ()) if nid > old]
        return self._derived(tensor, "alias", (old, *later))

    def _derived(self, tensor: Tensor, name: str, inputs: Iterable[ValueId]) -> ValueId:
        shape = shape_of(tensor)
        op = Op(self.fresh(), name, NOWHERE, tuple(inputs), tensor.requires_grad, shape, is_floating(tensor))
        return self._add(op, tensor)

    def _add(self, op: Op, tensor: Tensor) -> ValueId:
        self._record(op)
        self.define(tensor, op.nid)
        return op.nid


def is_floating(tensor: Tensor) -> bool:
    dtype = tensor.dtype
    return dtype.is_floating_point or dtype.is_complex


class Departures:
    """Numbers that left the tensor world, so that their return can be recognised by value."""

    def __init__(self) -> None:
        self._numbers: dict[float, ValueId] = {}
        self._memory: dict[int, tuple[weakref.ref[Any], ValueId]] = {}
        self._recent: deque[tuple[float, ValueId]] = deque(maxlen=8)  # single numbers
        self._constants: set[float] = set()

    def left(self, by: str, result: Any, nid: ValueId) -> None:
        if by in ("numpy", "array"):
            self._array(result, nid)
        else:
            self._many(result, nid)  # a number is one of them
            if type(result) is float and is_distinctive(result):
                self._recent.append((result, nid))

    def _many(self, values: Any, nid: ValueId) -> None:
        if len(self._numbers) > MAX_KNOWN:
            self._numbers.clear()
        # Whole numbers and simple fractions turn up everywhere: only a distinctive value is evidence.
        self._numbers.update((value, nid) for value in flatten(values, 4096) if is_distinctive(value))

    def _array(self, array: Any, nid: ValueId) -> None:
        if getattr(array, "dtype", None) is not None and array.dtype.kind == "f":
            if len(self._memory) > MAX_KNOWN:
                self._memory.clear()
            self._memory[array.__array_interface__["data"][0]] = (weakref.ref(array), nid)
            self._many(array.ravel()[:4096].tolist(), nid)

    def returned(self, tensor: Tensor) -> tuple[ValueId, ...]:
        """The same for a tensor that came up from nowhere: a legacy constructor, or another library."""
        if not self._numbers or tensor.device.type != "cpu" or not is_dense(tensor) or tensor.numel() > 1024:
            return ()
        with torch.no_grad():
            return tuple(self.recognise(tensor.tolist()))

    def operand(self, value: Any) -> tuple[ValueId, ...]:
        """The same for a number that meets a tensor."""
        if type(value) is not float:
            if type(value) in NEVER_RETURN or not is_plain_of_numpy(value) or value.shape != ():
                return ()
            value = value.item()
        nid = self._numbers.get(value)
        if nid is None and value not in self._constants:
            nid = self._scaled(value)
        return () if nid is None else (nid,)

    def _scaled(self, value: float) -> ValueId | None:
        """`0.5 * loss.item()`: a number that left not long ago, times a round one."""
        for number, nid in self._recent if is_distinctive(value) else ():
            factor = value / number if number else 0.0
            short = round(factor, 4)
            if short and abs(factor - short) <= 1e-12 * abs(factor):
                return nid
        if len(self._constants) < MAX_KNOWN:
            self._constants.add(value)  # most often one that is written in the script, and comes again
        return None

    def recognise(self, data: Any) -> list[ValueId]:
        """The values that `data` (numbers, nested lists, an array) was made of, as far as can be told."""
        if is_array(data):
            known = self._memory.get(memory_of(data))
            if known is not None and known[0]() is not None:  # else the memory is another array's by now
                return [known[1]]
            data = data.ravel()[:4096].tolist() if is_plain_of_numpy(data) and data.dtype.kind == "f" else []
        found = {self._numbers[v]: None for v in flatten(data, 4096) if v in self._numbers}
        return list(found)


def is_distinctive(value: float) -> bool:
    return value == value and abs(value) < 1e12 and (value * 1024) % 1 != 0


def flatten(data: Any, limit: int) -> Iterable[float]:
    stack, count = [data], 0
    while stack and count < limit:
        item = stack.pop()
        if type(item) is float:
            count += 1
            yield item
        elif issubclass(type(item), SEQUENCES):
            stack.extend(items_of(item))
        elif type(item) not in NEVER_RETURN and is_plain_of_numpy(item):
            stack.append(item.tolist())
