"""Checks that every loss makes before it computes: shapes that belong together, constants without a graph."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from gradsan.rl.errors import GraphError, ShapeError

MOST_REMEMBERED = 1_000
_FITTING: set[tuple[tuple[torch.Size, str], ...]] = set()


def shapes(function: str, **arguments: tuple[Tensor, str]) -> None:
    """Bind letters to sizes over all arguments: `shapes("td", q=(q, "B A"), target=(target, "B"))`."""
    # This runs before every loss, and must cost less than the smallest kernel: mostly it was asked the same before.
    asked = tuple([(tensor.shape, spec) for tensor, spec in arguments.values()])
    if asked in _FITTING:
        return
    bound: dict[str, int] = {}
    for name, (tensor, spec) in arguments.items():
        letters, sizes = _letters(spec), tensor.shape
        fits = len(letters) == len(sizes)
        for letter, size in zip(letters, sizes, strict=False):
            fits = fits and bound.setdefault(letter, size) == size
        if not fits:
            raise ShapeError(_shape_message(function, name, tensor, letters, bound))
    if 0 in bound.values():
        raise ShapeError(f"{function}: the batch is empty, and the mean over nothing is NaN.")
    if len(_FITTING) < MOST_REMEMBERED:
        _FITTING.add(asked)


@cache
def _letters(spec: str) -> tuple[str, ...]:
    return tuple(spec.split())


def _shape_message(
    function: str, name: str, tensor: Tensor, letters: tuple[str, ...], bound: dict[str, int]
) -> str:
    expected = ", ".join(f"{letter}={bound[letter]}" if letter in bound else letter for letter in letters)
    message = f"{function}: {name} has shape {list(tensor.shape)}, expected [{expected}]"
    if tensor.dim() == len(letters) + 1 and tensor.shape[-1] == 1:
        # The most common slip of all: [B, 1] against [B] broadcasts to [B, B] and raises nothing.
        message += f"; write {name}.squeeze(-1), or it would broadcast against the others"
    return message + "."


def constant(function: str, **arguments: Tensor) -> None:
    """Refuse a graph on what must not be trained through; detaching it here would hide where it came from."""
    for name, tensor in arguments.items():
        if tensor.requires_grad:
            raise GraphError(
                f"{function}: {name} must be a constant, but the loss would let gradient flow into it; "
                f"compute it under torch.no_grad() or pass {name}.detach()."
            )


def scalar(function: str, **arguments: Tensor) -> None:
    for name, tensor in arguments.items():
        if tensor.numel() != 1:
            raise ShapeError(f"{function}: {name} has shape {list(tensor.shape)}, expected a scalar.")


def integer(function: str, action: Tensor) -> Tensor:
    """As an index. PyTorch's own functions each take other kinds of integers."""
    if action.dtype is torch.int64:
        return action
    if action.is_floating_point() or action.is_complex() or action.dtype == torch.bool:
        raise ShapeError(f"{function}: action must hold integers, not {action.dtype}.")
    return action.long()
