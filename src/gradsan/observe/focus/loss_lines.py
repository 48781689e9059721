"""What the losses of each line of the script have been like: the one look at them that is taken even in passing."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

from gradsan.observe.containment import Containment
from gradsan.observe.focus.fast_path import FastPath, KnownBoundary
from gradsan.observe.graphs.graph import Graph, Shapes, walk
from gradsan.observe.sites import Sites
from gradsan.observe.slots import SEQUENCES, items_of
from gradsan.observe.unseen import is_dense, is_readable
from gradsan.record.events import Reason

ENOUGH_LOSSES = 16  # before a loss can be out of its history
OUTLIER = 10.0  # times the largest one so far


class LossLine:
    __slots__ = ("count", "kinds", "largest", "token")

    def __init__(self, token: int) -> None:
        self.token = token
        self.count = 0
        self.largest = 0.0
        self.kinds: set[type] = set()  # of the last operations


class LossLines:
    def __init__(
        self, containment: Containment, sites: Sites, fast_path: FastPath, news: Callable[[Reason], None]
    ) -> None:
        self._contain = containment.contain
        self._sites = sites
        self._fast_path = fast_path
        self._news = news
        self._lines: dict[int, LossLine] = {}
        self._shapes = Shapes()

    def find(self, frame: FrameType) -> tuple[FrameType, LossLine, KnownBoundary | None]:
        """The script's frame, its line, and what is expected after it, if it is expected here."""
        fast_path, called = self._fast_path, frame
        while not self._sites.is_user(frame.f_code) and frame.f_back is not None:
            frame = frame.f_back
        line = self.of(token_of(frame))
        following = fast_path.node.get(line.token) if fast_path.on else None
        if following is not None and frame is called:  # else others may come by the same library's line
            fast_path.node.backward = (frame.f_code, frame.f_lasti, following, line)
        return frame, line, following

    def of(self, token: int) -> LossLine:
        line = self._lines.get(token)
        if line is None:
            line = self._lines[token] = LossLine(token)
        return line

    def note_graph(self, token: int, roots: tuple[torch.Tensor, ...], graph: Graph) -> None:
        self._shapes.note(token, graph)
        self.of(token).kinds.update(type(root.grad_fn) for root in roots)

    def is_ordinary(self, loss: Any, line: LossLine) -> bool:
        """One value, no gradient tensors. A loss far above all that this line has had so far often comes before one
        that is not finite."""
        value = abs(self._contain("loss", value_of, loss) or 0.0)
        seen, largest = line.count, line.largest
        line.count, line.largest = seen + 1, max(largest, value)
        # Those that were ordinary in passing are not counted one by one.
        enough = seen + self._fast_path.skipped >= ENOUGH_LOSSES
        outlier = enough and value > OUTLIER * largest > 0.0
        if outlier or not math.isfinite(value):
            self._contain("attention", self._news, "odd loss")
            return False
        return True

    def has_usual_graph(self, loss: Any, line: LossLine) -> bool:
        """The one look at a graph that is taken in passing, every so often."""
        graph = self._contain("graph", lambda: walk(as_tensors(loss)))
        if graph is None or not self._shapes.is_new(line.token, graph):
            line.kinds.update(type(root.grad_fn) for root in as_tensors(loss))
            return True
        self._contain("attention", self._news, "other graph")
        return False


def token_of(frame: FrameType) -> int:
    """A number for the call that is running: the same in every mode."""
    return id(frame.f_code) * 31 + frame.f_lasti


def as_tensors(tensors: Any) -> tuple[torch.Tensor, ...]:
    """Those among them that can be read. PyTorch takes any iterable; only lists and tuples are looked into, for
    others may do something when they are iterated."""
    if issubclass(type(tensors), torch.Tensor):
        return (tensors,) if is_readable(tensors) else ()
    if issubclass(type(tensors), SEQUENCES):
        return tuple(t for t in items_of(tensors) if issubclass(type(t), torch.Tensor) and is_readable(t))
    return ()


def value_of(loss: Any) -> float:
    """The value of a loss that has just one."""
    if not issubclass(type(loss), torch.Tensor) or not is_readable(loss) or not is_dense(loss):
        return 0.0
    if loss.numel() != 1:
        return 0.0
    value = loss.item()
    return abs(value) if isinstance(value, complex) else float(value)
