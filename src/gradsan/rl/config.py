"""Options that every training run has; each agent adds its hyperparameters in a dataclass of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal

import torch

from gradsan.rl.errors import ConfigError

Sanitize = Literal["adaptive", "deep", "off"]
Vectorization = Literal["auto", "native", "sync", "async"]

# What options of one name may be, in every algorithm that has them.
AT_LEAST_ONE = {
    *("steps", "num_envs", "eval_episodes", "checkpoint_every", "max_episode_steps", "hidden"),
    *("rollout", "epochs", "batch_size", "buffer_size", "n_step", "train_every"),
    *("updates_per_round", "target_every", "policy_delay", "baseline_updates"),
}
NOT_NEGATIVE = {
    *("eval_every", "seed", "learning_starts", "entropy_bonus", "value_weight", "temperature"),
    *("exploration_noise", "target_noise", "target_noise_clip"),
}
SHARES = {"gamma", "trace", "averaging", "epsilon_start", "epsilon_end", "epsilon_fraction"}
POSITIVE = {"learning_rate", "baseline_learning_rate", "max_grad_norm", "clip", "value_clip"}
# What the saved state of a run cannot follow.
FIXED = ("env", "seed", "num_envs", "vectorization", "hidden", "normalize")


@dataclass(frozen=True, kw_only=True)
class Config:
    """What is trained, for how long, and what is written down on the way."""

    env: str
    """Gymnasium id of the environment, such as CartPole-v1; MODULE:ID imports the module that registers it."""
    steps: int = 100_000
    """Environment steps to learn from, over all copies."""
    seed: int = 1
    """The same seed gives the same result, bit for bit, on the same machine's CPU."""
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
        for field in fields(self):
            value = getattr(self, field.name)
            for one in value if isinstance(value, tuple) else (value,):
                _check(field.name, one)

    def require_same_run(self, saved: Config) -> None:
        """Other options may change when a run is resumed."""
        for name in FIXED:
            was, wanted = getattr(saved, name, None), getattr(self, name, None)
            changed = f"{option(name)} cannot change when a run is resumed: it was {was}, not {wanted}."
            require(was == wanted, changed)

    def has_device(self) -> bool:
        try:
            self.torch_device()
        except ConfigError:
            return False
        return True

    def torch_device(self) -> torch.device:
        try:
            device = torch.device(self.device)
        except RuntimeError as error:
            raise ConfigError(f"Unknown device {self.device!r}: give cpu, cuda or cuda:N.") from error
        if device.type not in ("cpu", "cuda"):
            raise ConfigError(f"Unknown device {self.device!r}: give cpu, cuda or cuda:N.")
        if device.type == "cuda" and not torch.cuda.is_available():
            raise ConfigError("--device cuda was asked for, but PyTorch sees no CUDA device here.")
        if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
            raise ConfigError(
                f"--device {device} was asked for, but there are {torch.cuda.device_count()} here."
            )
        return device


def option(name: str) -> str:
    """As it is written on the command line."""
    return f"--{name.replace('_', '-')}"


def _check(name: str, value: Any) -> None:
    written = option(name)
    if isinstance(value, float):
        require(math.isfinite(value), f"{written} must be a finite number.")
    if value is None:
        return
    if name in AT_LEAST_ONE:
        require(value >= 1, f"{written} must be at least 1.")
    if name in NOT_NEGATIVE:
        require(value >= 0, f"{written} must not be negative.")
    if name in SHARES:
        require(0 <= value <= 1, f"{written} must lie between 0 and 1.")
    if name in POSITIVE:
        require(value > 0, f"{written} must be positive.")


def require(condition: bool, sentence: str) -> None:
    if not condition:
        raise ConfigError(sentence)
