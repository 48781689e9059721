"""Whether weights in half precision move at all: a few of their numbers, compared with what they were at first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from gradsan.observe.registry import Leaves
from gradsan.observe.unseen import is_readable
from gradsan.record.events import HalfType, ParamId, Unmoved

NUMBERS = 4_096  # of each parameter that are compared
LOOKS = 64  # at each parameter: by then it has moved, or never will
HALF: dict[torch.dtype, HalfType] = {torch.bfloat16: "bfloat16", torch.float16: "float16"}


@dataclass(slots=True)
class _Start:
    numbers: torch.Tensor
    fed: torch.Tensor  # which of them have had a gradient that is not zero
    looks: int = 0


class LowPrecision:
    def __init__(self, leaves: Leaves) -> None:
        self._leaves = leaves
        self._starts: dict[ParamId, _Start] = {}
        self._done: set[ParamId] = set()

    def before_step(self, opt: torch.optim.Optimizer) -> None:
        for pid, param, _ in self._watched(opt):
            assert param.grad is not None
            start = self._starts.get(pid)
            if start is None:
                numbers = _some(param).clone()
                start = self._starts[pid] = _Start(numbers, torch.zeros_like(numbers, dtype=torch.bool))
            start.fed |= _some(param.grad) != 0

    def after_step(self, opt: torch.optim.Optimizer) -> tuple[Unmoved, ...]:
        found = []
        for pid, param, lr in self._watched(opt):
            start = self._starts.get(pid)
            if start is None or _has_master(opt, param) or not (fed := int(start.fed.sum())):
                continue
            same = int((start.fed & (_some(param) == start.numbers)).sum())
            found.append(Unmoved(pid, HALF[param.dtype], same / fed, lr))
            start.looks += 1
            if start.looks >= LOOKS:
                del self._starts[pid]
                self._done.add(pid)
        return tuple(found)

    def _watched(self, opt: torch.optim.Optimizer) -> Iterator[tuple[ParamId, torch.Tensor, float]]:
        """Parameters in half precision that this step is to move."""
        for group in opt.param_groups:
            lr: Any = group.get("lr", 0.0)
            for param in group["params"]:
                if (
                    is_readable(param)
                    and param.dtype in HALF
                    and param.grad is not None
                    and not param.grad.is_sparse
                    and float(lr) > 0
                ):
                    pid = self._leaves.pid(param)
                    if pid not in self._done and param.numel() and not param.is_meta:
                        yield pid, param, float(lr)


def _some(tensor: torch.Tensor) -> torch.Tensor:
    flat = tensor.detach().reshape(-1)
    return flat[:: max(1, flat.numel() // NUMBERS)]


def _has_master(opt: torch.optim.Optimizer, param: torch.Tensor) -> bool:
    """Whether the optimizer keeps the weights in a wider type, too: there nothing is lost."""
    state: Any = opt.state.get(param, {})
    return any(
        isinstance(kept, torch.Tensor)
        and kept.shape == param.shape
        and kept.is_floating_point()
        and kept.element_size() > param.element_size()
        and torch.equal(_some(kept).to(param.dtype), _some(param))
        for kept in state.values()
    )
