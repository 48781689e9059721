"""What makes a tensor frozen, who looks out for writes into it, and what they say."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from gradsan.api.errors import FrozenTensorError, place
from gradsan.api.locations import caller
from gradsan.api.op_schema import operation, written
from gradsan.judge.report.findings import Location
from gradsan.observe.registry import storage_of

SPOKEN = {"__setitem__": "an item assignment", "__iadd__": "`+=`", "__isub__": "`-=`", "__imul__": "`*=`"}


@dataclass(eq=False)
class Seal:
    """Shared by a frozen tensor and all views of it."""

    line: Location | None
    thaws: int = 0


def seal(tensor: torch.Tensor, kind: type[torch.Tensor], mark: Seal) -> None:
    tensor.__class__ = kind
    tensor.__dict__["_gradsan_seal"] = mark


def seal_of(tensor: torch.Tensor) -> Seal:
    mark: Seal = tensor.__dict__["_gradsan_seal"]
    return mark


class Sentry(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """On duty for the length of one call."""

    def __init__(self, call: str, memory: dict[int, torch.Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._call = call
        self._memory = memory

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        for tensor in written(func, args, kwargs):
            target = self._memory.get(storage_of(tensor))
            if target is not None:
                raise refusal(self._call or operation(func), target)
        return func(*args, **kwargs)


def refusal(how: str, target: torch.Tensor) -> FrozenTensorError:
    where = caller(sys._getframe(1))
    here = f"{place(where)}: " if where is not None else ""
    return FrozenTensorError(
        f"{here}{SPOKEN.get(how, f'`{how}`')} writes in place into a tensor {frozen_at(target)}. Write into "
        "a copy (`.clone()`), or, where the write is meant (the sync of a target network), inside "
        "`with gradsan.thawed(…):`"
    )


def frozen_at(target: torch.Tensor) -> str:
    line = seal_of(target).line
    return "that is frozen" if line is None else f"that was frozen on {place(line)} (`{line.code}`)"
