"""`gradsan.guard`: no in-place write may reach what backward still needs."""

from __future__ import annotations

import contextlib
import os
import sys
import weakref
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, Literal

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from gradsan.api.errors import GuardError, place
from gradsan.api.locations import caller, location, sites
from gradsan.api.op_schema import operation, written
from gradsan.judge.report.findings import Finding, Location, RoleSite
from gradsan.observe.ops.values import version_of
from gradsan.observe.registry import storage_of
from gradsan.record.torch_errors import SAVED_TENSOR_CHANGED
from gradsan.rules import catalogue

MANY = 4096
OPTIMIZERS = os.path.join("torch", "optim", "")


@contextlib.contextmanager
def guard(mode: Literal["raise", "copy"]) -> Iterator[None]:
    """Protect everything that a forward pass inside the block keeps for its backward.

        with gradsan.guard("raise"):   # a write on what backward needs raises GuardError, at the write
        with gradsan.guard("copy"):    # …or backward gets the value from before the write

    "raise" stops at the writing line, writes through `.data` included, and knows the line that kept the
    value. Backward may come after the block. "copy" is PyTorch's own `allow_mutation_on_saved_tensors`:
    a value is cloned when somebody is about to overwrite it; forward and backward must both run inside.

    Both work on the present thread, cost time per operation, and see nothing that runs inside somebody
    else's saved-tensor hooks (`save_on_cpu`, checkpointing).
    """
    if mode == "copy":
        with torch.autograd.graph.allow_mutation_on_saved_tensors():
            yield
    elif mode == "raise":
        with torch.autograd.graph.saved_tensors_hooks(_pack, _unpack), Warden():
            yield
    else:
        raise ValueError(f"guard knows 'raise' and 'copy', not {mode!r}")


class GuardedTensor:
    """A tensor that a graph keeps. It dies when the graph lets it go, and the memory is free again."""

    __slots__ = ("__weakref__", "code", "line", "tensor", "version")

    def __init__(self, tensor: torch.Tensor, frame: FrameType | None) -> None:
        self.tensor = tensor.detach()  # with its graph it would keep itself alive
        self.version = version_of(tensor)
        self.code: CodeType | None = None if frame is None else frame.f_code
        self.line = 0 if frame is None else frame.f_lineno

    @property
    def where(self) -> Location | None:
        return None if self.code is None else location(self.code.co_filename, self.line, self.code.co_name)


# By memory, for all guards together: what one guard has seen kept, another one protects.
_kept: dict[int, weakref.WeakSet[GuardedTensor]] = {}


def _pack(tensor: torch.Tensor) -> GuardedTensor:
    kept = GuardedTensor(tensor, sites().user_frame(sys._getframe(1)))
    storage = storage_of(tensor)
    if storage:
        if len(_kept) > MANY:
            _forget_dead()
        _kept.setdefault(storage, weakref.WeakSet()).add(kept)
    return kept


def _forget_dead() -> None:
    for storage in [storage for storage, holders in _kept.items() if not holders]:
        del _kept[storage]


def _unpack(kept: GuardedTensor) -> torch.Tensor:
    """Saved-tensor hooks switch PyTorch's version check off, so it is made here, in PyTorch's words."""
    now = version_of(kept.tensor)
    if now != kept.version:
        kind, shape = kept.tensor.type(), list(kept.tensor.shape)
        where = f" It was kept by {place(kept.where)} (`{kept.where.code}`)." if kept.where else ""
        raise RuntimeError(
            f"one of the variables needed for gradient computation has been {SAVED_TENSOR_CHANGED}: "
            f"[{kind} {shape}] is at version {now}; expected version {kept.version} instead.{where}"
        )
    return kept.tensor


class Warden(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        for tensor in written(func, args, kwargs, statistics=False):
            # No variable here may hold what is kept: the error's traceback would keep it alive.
            error = _refusal(tensor, operation(func), sys._getframe(1))
            if error is not None:
                raise error
        return func(*args, **kwargs)


def _refusal(tensor: torch.Tensor, how: str, frame: FrameType) -> GuardError | None:
    kept = _holder(storage_of(tensor))
    return None if kept is None else _error(how, kept, frame)


def _holder(storage: int) -> GuardedTensor | None:
    holders = _kept.get(storage)
    if holders is None:
        return None
    first = next(iter(holders), None)
    if first is None:
        del _kept[storage]
    return first


def _error(how: str, kept: GuardedTensor, frame: FrameType) -> GuardError:
    rule = catalogue()["GS102" if _is_in_optimizer(frame) else "GS101"]
    here, there = caller(frame), kept.where
    keeper = "an operation" if there is None else f"`{there.code}` ({place(there)})"
    act = "this step changes" if rule.code == "GS102" else f"`{how}` changes in place"
    message = f"{act} what {keeper} has kept for backward"
    sites = [RoleSite(role, at) for role, at in (("saved", there), ("mutation", here)) if at is not None]
    finding = Finding(rule.code, rule.name, "error", message, rule.fix, here, tuple(sites))
    start = f"{place(here)}: " if here is not None else ""
    return GuardError(f"{start}{message}\n  fix: {rule.fix}", finding)


def _is_in_optimizer(frame: FrameType | None) -> bool:
    while frame is not None and not sites().is_user(frame.f_code):
        if OPTIMIZERS in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False
