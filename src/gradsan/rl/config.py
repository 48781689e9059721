"""Options that every training run has; each agent adds its hyperparameters in a dataclass of its own."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

import torch

from gradsan.rl.errors import ConfigError

Sanitize = Literal["adaptive", "deep", "off"]
Vectorization = Literal["auto", "native", "sync", "async"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """What is trained, for how long, and what is written down on the way."""

    env: str
    """Gymnasium id of the environment, such as CartPole-v1."""
    steps: int = 100_000
    """Environment steps to learn from, over all copies."""
    seed: int = 1
    """The same seed gives the same result, bit for bit, on the same machine."""
    num_envs: int = 1
    """Copies of the environment that are stepped together."""
    vectorization: Vectorization = "auto"
    """native: Gymnasium's own array version; sync: one after another; async: one process each."""
    device: str = "cpu"
    """cpu, cuda, or cuda:N."""
    sanitize: Sanitize = "adaptive"
    """Watch the gradients while training: adaptive costs little, deep traces every operation."""
    eval_every: int = 10_000
    """Steps between evaluations in an environment of their own; 0: only at the end."""
    eval_episodes: int = 10
    """Episodes per evaluation, with the greedy policy."""
    checkpoint_every: int = 10_000
    """Steps between checkpoints: what a killed run can lose."""

    def __post_init__(self) -> None:
        for name in ("steps", "num_envs", "eval_episodes", "checkpoint_every"):
            require(getattr(self, name) >= 1, f"--{name.replace('_', '-')} must be at least 1.")
        require(self.eval_every >= 0, "--eval-every must not be negative.")
        require(self.seed >= 0, "--seed must not be negative.")
        for field in fields(self):
            if field.name in ("gamma", "trace"):
                require(0 <= getattr(self, field.name) <= 1, f"--{field.name} must lie between 0 and 1.")
            if field.name.endswith("learning_rate"):
                require(getattr(self, field.name) > 0, f"--{field.name.replace('_', '-')} must be positive.")

    def torch_device(self) -> torch.device:
        try:
            device = torch.device(self.device)
        except RuntimeError as error:
            raise ConfigError(f"Unknown device {self.device!r}: give cpu, cuda or cuda:N.") from error
        if device.type == "cuda" and not torch.cuda.is_available():
            raise ConfigError("--device cuda was asked for, but PyTorch sees no CUDA device here.")
        return device


def require(condition: bool, sentence: str) -> None:
    if not condition:
        raise ConfigError(sentence)
