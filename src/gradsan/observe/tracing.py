"""Whether every operation is looked at right now, and the tap that does."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

from gradsan.record.events import NOWHERE, Site, ValueId

if TYPE_CHECKING:
    from gradsan.observe.operations import OperationTap


class Tracing:
    def __init__(self) -> None:
        self.tap: OperationTap | None = None

    def begin(self, tap: OperationTap) -> None:
        self.tap = tap

    def end(self) -> None:
        self.tap = None

    def flush(self) -> None:
        """Pass on the operations that were seen so far."""
        if self.tap is not None:
            self.tap.flush()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Run PyTorch's own code without tracing its operations."""
        tap = self.tap
        if tap is None:
            yield
            return
        tap.pause()
        try:
            yield
        finally:
            tap.resume()

    def find(self, tensor: torch.Tensor) -> ValueId | None:
        """The number of the value that this tensor holds."""
        return self.tap.values.find(tensor) if self.tap is not None else None

    def newest(self) -> int:
        """The number of the newest value; 0 where nobody counts them."""
        return self.tap.values.newest if self.tap is not None else 0

    def forget(self, tensor: torch.Tensor) -> None:
        """Whatever this tensor was computed from: what is read from now on is something else."""
        if self.tap is not None:
            self.tap.values.forget(tensor)

    def clearing_site(self) -> Site:
        """The line that last wrote `.grad` by hand, where the operation tap saw it."""
        return self.tap.special.last_grad_write if self.tap is not None else NOWHERE
