"""A world small enough for every example: walk along a chain, be paid at its end."""

from __future__ import annotations

import torch


class Chain:
    """`size` walkers at once. Action 1 goes right, 0 left; the last cell pays 1 and sends the walker back."""

    def __init__(self, size: int = 16, length: int = 6) -> None:
        self.length = length
        self.cells = torch.zeros(size, dtype=torch.long)

    def observe(self) -> torch.Tensor:
        return torch.nn.functional.one_hot(self.cells, self.length).float()

    def step(self, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        moved = (self.cells + 2 * actions - 1).clamp(min=0)
        done = moved >= self.length - 1
        self.cells = torch.where(done, torch.zeros_like(moved), moved)
        return self.observe(), done.float(), done.float()
