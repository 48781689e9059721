"""The kind of tensor that `freeze` turns a tensor into.

Freezing changes the tensor's class and nothing else: memory, graph and identity stay. The class hears of
every call that a frozen tensor is part of (`__torch_function__`) and runs it under a dispatch mode that
sees the operators the call is made of. Their schemas say exactly what is written: `out=`, `x[0] = …`,
`_foreach_add_`, `relu(inplace=True)` and custom operators need no list of names here. What the call
returns is frozen, too, if it is a view of frozen memory.
"""

from __future__ import annotations

import copy
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from gradsan.api.errors import FrozenTensorError, place
from gradsan.api.lines import caller
from gradsan.api.writing import operation, written
from gradsan.judge.findings import Location
from gradsan.observe.leaves import storage_of

ARRAYS = {"numpy", "__array__"}
SHARING = {"__dlpack__", "__cuda_array_interface__"}
VIEWS = {"data", "T", "mT", "H", "mH", "real", "imag"}  # attributes; all others are not memory
SPOKEN = {"__setitem__": "an item assignment", "__iadd__": "`+=`", "__isub__": "`-=`", "__imul__": "`*=`"}
UNCOMPILED = "gradsan.freeze: writes to read-only tensors are looked for outside of compiled code"


@dataclass(eq=False)
class Seal:
    """Shared by a frozen tensor and all views of it."""

    line: Location | None
    thaws: int = 0


class FrozenTensor(torch.Tensor):
    _gradsan_seal: Seal

    @classmethod
    @torch.compiler.disable(reason=UNCOMPILED)  # type: ignore[no-untyped-call, untyped-decorator]
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name, attribute = _name(func)
        if name == "__get__" and attribute not in VIEWS | SHARING:
            return _plainly(func, args, kwargs)
        found = [t for t in tree_leaves((args, kwargs)) if isinstance(t, FrozenTensor)]
        if name == "__set__":
            return _set(attribute, func, args, found)
        if name in SHARING or attribute in SHARING:
            raise FrozenTensorError(
                f"`{attribute or name}` would share the memory of a tensor {_frozen_at(found[0])}, and nobody "
                "there knows that it is read-only: share a `.clone()`"
            )
        return _watched(name, func, args, kwargs, found)

    def set_(self, *args: Any, **kwargs: Any) -> Any:
        """The one writing method that PyTorch does not report to the class."""
        if not seal_of(self).thaws:
            raise _error("set_", self)
        return super().set_(*args, **kwargs)

    def __deepcopy__(self, memo: Any) -> Any:
        return _as_its_own_kind(self, lambda plain: copy.deepcopy(plain, memo))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _as_its_own_kind(self, lambda plain: plain.__reduce_ex__(protocol))  # type: ignore[no-untyped-call]

    def __copy__(self) -> torch.Tensor:
        """A shallow copy shares the memory, so it is no copy to us: it stays frozen."""
        return self.detach().requires_grad_(self.requires_grad)


class FrozenParameter(FrozenTensor, torch.nn.Parameter):
    """`isinstance(…, torch.nn.Parameter)` still holds."""


def seal(tensor: torch.Tensor, kind: type[FrozenTensor], mark: Seal) -> None:
    tensor.__class__ = kind
    tensor.__dict__["_gradsan_seal"] = mark


def seal_of(tensor: FrozenTensor) -> Seal:
    mark: Seal = tensor.__dict__["_gradsan_seal"]
    return mark


def _name(func: Any) -> tuple[str, str]:
    """("__get__", "data") for an attribute, ("add_", "") for a function."""
    name = getattr(func, "__name__", "")
    owner = getattr(func, "__self__", None) if name in ("__get__", "__set__", "__delete__") else None
    return name, getattr(owner, "__name__", "")


def _plainly(func: Any, args: Any, kwargs: Any) -> Any:
    with torch._C.DisableTorchFunctionSubclass():
        return func(*args, **kwargs)


def _watched(name: str, func: Any, args: Any, kwargs: Any, found: list[FrozenTensor]) -> Any:
    if name == "backward":
        return _plainly(func, args, kwargs)
    with torch._C.DisableTorchFunctionSubclass():
        memory = {storage_of(t): t for t in found}
        with Sentry(name, {key: t for key, t in memory.items() if not seal_of(t).thaws}):
            result = func(*args, **kwargs)
        if name in ARRAYS:
            if result.base is not None or name == "numpy":
                result.flags.writeable = False
            return result
        for out in tree_leaves(result):
            if type(out) is torch.Tensor and (source := memory.get(storage_of(out))) is not None:
                seal(out, FrozenTensor, seal_of(source))
    return result


class Sentry(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """On duty for the length of one call."""

    def __init__(self, call: str, memory: dict[int, FrozenTensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._call = call
        self._memory = memory

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        for tensor in written(func, args, kwargs):
            target = self._memory.get(storage_of(tensor))
            if target is not None:
                raise _error(self._call or operation(func), target)
        return func(*args, **kwargs)


def _set(attribute: str, func: Any, args: Any, found: list[FrozenTensor]) -> Any:
    target = args[0]
    if attribute == "data" and isinstance(target, FrozenTensor) and not seal_of(target).thaws:
        with torch._C.DisableTorchFunctionSubclass():
            # `module.to(device)` sets `.data` even where it has nothing to move.
            same = target.is_set_to(args[1])
        if not same:
            raise _error(".data = …", target)
        return None
    return _plainly(func, args, {})


_turn = threading.RLock()


def _as_its_own_kind(tensor: FrozenTensor, copied: Callable[[torch.Tensor], Any]) -> Any:
    """A copy is what a copy of the unfrozen tensor would be: the class and the seal do not go with it."""
    kind, mark = type(tensor), seal_of(tensor)
    with _turn:
        del tensor.__dict__["_gradsan_seal"]
        plain: Any = torch.nn.Parameter if kind is FrozenParameter else torch.Tensor
        tensor.__class__ = plain
        try:
            return copied(tensor)
        finally:
            seal(tensor, kind, mark)


def _error(how: str, target: FrozenTensor) -> FrozenTensorError:
    where = caller(sys._getframe(1))
    here = f"{place(where)}: " if where is not None else ""
    return FrozenTensorError(
        f"{here}{SPOKEN.get(how, f'`{how}`')} writes in place into a tensor {_frozen_at(target)}. Write into "
        "a copy (`.clone()`), or, where the write is meant (the sync of a target network), inside "
        "`with gradsan.thawed(…):`"
    )


def _frozen_at(target: FrozenTensor) -> str:
    line = seal_of(target).line
    return "that is frozen" if line is None else f"that was frozen on {place(line)} (`{line.code}`)"
