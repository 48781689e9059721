"""Looking without being seen: what of the script's own code a look must not run, and when not to look at all.

Subclasses and modes of the user's own are called for every operation, ours included; a tracer (`fx`, `jit`,
`export`, the compiler) would write our reads into its graph. So reads run with both kinds of dispatch off,
tensors whose reading runs somebody's code are not read, and while PyTorch traces, nobody looks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import torch

P = ParamSpec("P")
R = TypeVar("R")

_no_functions = torch._C.DisableTorchFunction
_no_dispatch = torch._C._DisableTorchDispatch
dispatch_modes: Callable[[], int] = torch._C._len_torch_dispatch_stack
jit_trace: Callable[[], Any] = torch._C._get_tracing_state
transform: Callable[[], Any] = torch._C._functorch.peek_interpreter_stack
_Key: Any = getattr(torch._C, "_TorchDispatchModeKey", None)
_TRACERS = [getattr(_Key, name) for name in ("FAKE", "PROXY", "FUNCTIONAL") if hasattr(_Key, name)]

# What is asked of a tensor everywhere in this room: a class that answers one of them itself is not asked.
_ASKED = (
    "__torch_dispatch__", "__getattribute__", "__eq__", "__hash__", "__bool__", "__float__", "__getitem__",
    "shape", "dtype", "device", "layout", "grad", "grad_fn", "requires_grad", "is_leaf", "_version", "_base",
    "is_sparse", "is_meta", "is_nested", "is_inference", "numel", "dim", "data_ptr", "untyped_storage",
    "detach", "item", "tolist", "any", "all", "sum", "clone", "abs", "mean", "double", "flatten",
)  # fmt: skip
_LAZY: Any = torch.nn.parameter.UninitializedTensorMixin  # type: ignore[attr-defined]
_readable: dict[type, bool] = {torch.Tensor: True, torch.nn.Parameter: True}


def is_readable(tensor: torch.Tensor) -> bool:
    """Whether reading it runs PyTorch's code alone. Wrappers (DTensor, jagged and fake tensors) have no memory of
    their own, and answer by Python code."""
    kind = type(tensor)
    known = _readable.get(kind)
    return known if known is not None else _learn(kind)


def _learn(kind: type) -> bool:
    if issubclass(kind, _LAZY):  # whoever asks those asks whether they are
        return True
    found = _readable[kind] = all(_found_in(kind, name) is _found_in(torch.Tensor, name) for name in _ASKED)
    return found


def _found_in(kind: type, name: str) -> Any:
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def is_dense(tensor: torch.Tensor) -> bool:
    """Whether its numbers lie in memory, one beside the other."""
    return tensor.layout is torch.strided and not (tensor.is_nested or tensor.is_meta or tensor.is_quantized)


def is_traced() -> bool:
    """Whether PyTorch is writing down what runs, instead of running it: those are stand-ins for tensors."""
    if transform() is not None or jit_trace() is not None:
        return True
    return bool(dispatch_modes()) and any(torch._C._get_dispatch_mode(key) is not None for key in _TRACERS)


def unseen(look: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run our own code so that neither a subclass nor a mode is called for what it does."""
    if not dispatch_modes():
        with _no_functions():
            return look(*args, **kwargs)
    with _no_functions(), _no_dispatch():
        return look(*args, **kwargs)
