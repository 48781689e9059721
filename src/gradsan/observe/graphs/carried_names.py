"""Which of the user's variables have a part in a graph: asked where a backward has failed, never in passing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch

from gradsan.observe.graphs.graph import node_of, nodes_behind
from gradsan.observe.sites import Sites, variables_of
from gradsan.observe.slots import SEQUENCES, items_of, size_of
from gradsan.record.events import CarriedName

FRAMES = 3  # the one that called backward, and who called that
FEW = 1_000  # elements of a list that are looked at


def names_in_graph(sites: Sites, roots: tuple[torch.Tensor, ...]) -> tuple[CarriedName, ...]:
    """The variables around the call of backward that hold a value of this graph, the innermost frame's first."""
    nodes = nodes_behind(roots)
    return tuple(
        CarriedName(name, sites.here(frame), any(value is root for root in roots))
        for frame in _user_frames(sites)
        for name, value in variables_of(frame).items()
        if any(node_of(tensor) in nodes for tensor in _tensors(value) if tensor.requires_grad)
    )


def _user_frames(sites: Sites) -> Iterator[FrameType]:
    frame = sites.user_frame(sys._getframe(1))
    for _ in range(FRAMES):
        if frame is None:
            return
        yield frame
        if frame.f_code.co_name == "<module>":
            return
        frame = sites.user_frame(frame.f_back)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if issubclass(type(value), torch.Tensor):
        yield value
    elif issubclass(type(value), SEQUENCES) and size_of(value) <= FEW:
        yield from (part for part in items_of(value) if issubclass(type(part), torch.Tensor))
