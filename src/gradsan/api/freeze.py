"""`gradsan.freeze`: read-only tensors, and read-only networks."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TypeVar

import torch

from gradsan.api.frozen import FrozenTensor, FrozenWeight
from gradsan.api.locations import caller
from gradsan.api.seal import Seal, seal, seal_of

T = TypeVar("T", torch.Tensor, torch.nn.Module)


def freeze(thing: T) -> T:
    """Make a tensor, or every parameter and buffer of a network, read-only; returns the same object.

        obs = gradsan.freeze(obs)
        target = gradsan.freeze(copy.deepcopy(online))

    From now on every in-place write through it or through a view of it raises `FrozenTensorError` on the
    writing line. Reading, autograd, `state_dict`, `.grad`, saving and sending to devices work as before.
    Every copy (`clone`, `deepcopy`, unpickling, `.to` of another device or type) can be written again,
    `.numpy()` gives a read-only array. Names that shared the memory before, a NumPy array behind
    `from_numpy` among them, are not covered.

    A target network is synced inside `with gradsan.thawed(target):`.
    """
    line = caller(sys._getframe(1))
    for tensor in _tensors_of(thing):
        _freeze(tensor, Seal(line))
    return thing


def _freeze(tensor: torch.Tensor, mark: Seal) -> None:
    if isinstance(tensor, FrozenTensor):
        return  # the line that froze it first stays the one to name
    kind = type(tensor)
    if kind not in (torch.Tensor, torch.nn.Parameter):
        raise TypeError(f"gradsan.freeze knows torch.Tensor and torch.nn.Parameter, not {kind.__name__}")
    if tensor.layout != torch.strided or tensor.is_nested:
        raise TypeError(f"gradsan.freeze needs a dense tensor, not one with layout {tensor.layout}")
    seal(tensor, FrozenTensor if kind is torch.Tensor else FrozenWeight, mark)


@contextlib.contextmanager
def thawed(thing: T) -> Iterator[T]:
    """Inside the block the frozen tensor or network can be written: the way to sync a target network.

    with gradsan.thawed(target):
        target.load_state_dict(online.state_dict())
    """
    seals = [seal_of(t) for t in _tensors_of(thing) if isinstance(t, FrozenTensor)]
    for mark in seals:
        mark.thaws += 1
    try:
        yield thing
    finally:
        for mark in seals:
            mark.thaws -= 1


def _tensors_of(thing: object) -> list[torch.Tensor]:
    if isinstance(thing, torch.Tensor):
        return [thing]
    if isinstance(thing, torch.nn.Module):
        return [*thing.parameters(), *thing.buffers()]
    raise TypeError(f"a tensor or a torch.nn.Module is needed, not {type(thing).__name__}")
