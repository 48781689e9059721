"""The kind of tensor that `freeze` turns a tensor into.

Freezing changes the tensor's class and nothing else: memory, graph and identity stay. The class hears of
every call that a frozen tensor is part of (`__torch_function__`) and runs it under a dispatch mode that
sees the operators the call is made of. Their schemas say exactly what is written: `out=`, `x[0] = …`,
`_foreach_add_`, `relu(inplace=True)` and custom operators need no list of names here. What the call
returns is frozen, too, if it is a view of frozen memory.
"""

from __future__ import annotations

import copy
import inspect
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch.utils._pytree import tree_leaves

from gradsan.api.errors import FrozenTensorError
from gradsan.api.seal import Seal, Sentry, frozen_at, refusal, seal, seal_of
from gradsan.observe.registry import storage_of

ARRAYS = {"numpy", "__array__"}
SHARING = {"__dlpack__", "__cuda_array_interface__"}
VIEWS = {"data", "T", "mT", "H", "mH", "real", "imag"}  # attributes; all others are not memory
UNCOMPILED = "gradsan.freeze: writes to read-only tensors are looked for outside of compiled code"


F = TypeVar("F", bound=Callable[..., Any])


def _uncompiled(function: F) -> F:
    """Before PyTorch 2.7 a reason cannot be given."""
    disable: Any = torch.compiler.disable
    takes_reason = "reason" in inspect.signature(disable).parameters
    made: F = disable(function, reason=UNCOMPILED) if takes_reason else disable(function)
    return made


class FrozenTensor(torch.Tensor):
    _gradsan_seal: Seal

    @classmethod
    @_uncompiled
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
                f"`{attribute or name}` would share the memory of a tensor {frozen_at(found[0])}, and nobody "
                "there knows that it is read-only: share a `.clone()`"
            )
        return _watched(name, func, args, kwargs, found)

    def set_(self, *args: Any, **kwargs: Any) -> Any:
        """The one writing method that PyTorch does not report to the class."""
        if not seal_of(self).thaws:
            raise refusal("set_", self)
        return super().set_(*args, **kwargs)

    def __format__(self, spec: str) -> str:
        """PyTorch formats numbers of the plain class only."""
        return format(self.item(), spec) if self.dim() == 0 else super().__format__(spec)  # type: ignore[no-untyped-call]

    def __deepcopy__(self, memo: Any) -> Any:
        return _as_its_own_kind(self, lambda plain: copy.deepcopy(plain, memo))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _as_its_own_kind(self, lambda plain: plain.__reduce_ex__(protocol))  # type: ignore[no-untyped-call]

    def __copy__(self) -> torch.Tensor:
        """A shallow copy shares the memory, so it is no copy to us: it stays frozen."""
        return self.detach().requires_grad_(self.requires_grad)


class FrozenWeight(FrozenTensor, torch.nn.Parameter):
    """`isinstance(…, torch.nn.Parameter)` still holds."""


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


def _set(attribute: str, func: Any, args: Any, found: list[FrozenTensor]) -> Any:
    target = args[0]
    if attribute == "data" and isinstance(target, FrozenTensor) and not seal_of(target).thaws:
        with torch._C.DisableTorchFunctionSubclass():
            # `module.to(device)` sets `.data` even where it has nothing to move.
            same = target.is_set_to(args[1])
        if not same:
            raise refusal(".data = …", target)
        return None
    return _plainly(func, args, {})


_turn = threading.RLock()


def _as_its_own_kind(tensor: FrozenTensor, copied: Callable[[torch.Tensor], Any]) -> Any:
    """A copy is what a copy of the unfrozen tensor would be: the class and the seal do not go with it."""
    kind, mark = type(tensor), seal_of(tensor)
    with _turn:
        del tensor.__dict__["_gradsan_seal"]
        plain: Any = torch.nn.Parameter if kind is FrozenWeight else torch.Tensor
        tensor.__class__ = plain
        try:
            return copied(tensor)
        finally:
            seal(tensor, kind, mark)
