"""Whether every operation is looked at right now, and the tap that does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from gradsan.observe.training.open_step import OpenStep
from gradsan.record.events import NOWHERE, Site, ValueId

if TYPE_CHECKING:
    from gradsan.observe.ops.operations import OperationTap


Resume = Callable[[], None]


class Tracing:
    def __init__(self) -> None:
        self.tap: OperationTap | None = None
        self.step = OpenStep()

    def begin(self, tap: OperationTap) -> None:
        self.tap = tap

    def end(self) -> None:
        self.tap = None

    def flush(self) -> None:
        """Pass on the operations that were seen so far."""
        if self.tap is not None:
            self.tap.flush()

    def pause(self) -> Resume | None:
        """PyTorch's own code is about to run: do not trace its operations. What it returns ends that."""
        tap = self.tap
        if tap is None:
            return None
        tap.pause()
        return tap.resume

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
