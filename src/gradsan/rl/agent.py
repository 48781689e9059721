"""What all agents share: what they see and do, seeded chance, declared gradients, and state that can be saved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gradsan.rl.config import Config
from gradsan.rl.contracts import Contract, Contracts
from gradsan.rl.envs import Envs
from gradsan.rl.spaces import seen_and_done

Array = NDArray[Any]


class Stateful(Protocol):
    def state_dict(self) -> dict[str, Any]: ...
    def load_state_dict(self, state: dict[str, Any], /) -> Any: ...


class Agent(ABC):
    """Learns by `advance()`: some steps in the environment, then the updates that are due.

    Between two calls it is consistent: that is where checkpoints are taken.
    """

    name: ClassVar[str]
    needs: ClassVar[str] = "any"
    """Actions that it can take: any, discrete, or continuous (between bounds)."""

    def __init__(self, config: Config, envs: Envs) -> None:
        self.base = config
        self.envs = envs
        self.device = config.torch_device()
        self.step = 0
        self.updates = 0
        self.metrics: dict[str, Tensor | float] = {}
        self.contracts = Contracts()
        chance, noise, weights = np.random.SeedSequence(config.seed).generate_state(3)
        self.rng = np.random.default_rng(int(chance))
        self.noise = torch.Generator(self.device).manual_seed(int(noise))
        self.weights_seed = int(weights)
        self.observations, self.actions = seen_and_done(
            envs.vector.single_observation_space, envs.vector.single_action_space, self.needs
        )
        envs.reset(seed=config.seed)

    @abstractmethod
    def advance(self) -> None:
        """Take some steps and make the updates that are due."""

    @abstractmethod
    def act(self, obs: Array) -> Array:
        """Greedy actions for a batch of observations, as the environment takes them. Changes nothing."""

    @abstractmethod
    def parts(self) -> Mapping[str, Stateful]:
        """Everything that a checkpoint holds beside counters, chance and environments."""

    def declare(self, *contracts: Contract) -> None:
        self.contracts = Contracts(*contracts, always=self.base.sanitize == "deep")

    def check_contract(self, name: str, loss: Tensor) -> None:
        """Before backward: does this loss train what was declared, and nothing else? (`gradsan.rl.contracts`)"""
        self.contracts.check(name, loss)
        self.metrics[f"{name}_loss"] = loss.detach()

    def tensor(self, array: Array) -> Tensor:
        """To the device, as float unless these are images of bytes."""
        if array.dtype != np.uint8 or array.ndim != 4:
            array = array.astype(np.float32, copy=False)
        return torch.from_numpy(array).to(self.device)

    def progress(self) -> float:
        return min(1.0, self.step / self.base.steps)

    def state_dict(self, *, environments: bool = True) -> dict[str, Any]:
        """Without `environments`, a restored agent starts new episodes: for a state saved after a fault."""
        return {
            "step": self.step,
            "updates": self.updates,
            "chance": self.rng.bit_generator.state,
            "noise": self.noise.get_state(),
            "envs": self.envs.state_dict() if environments else None,
            "parts": {name: part.state_dict() for name, part in self.parts().items()},
        }

    def policy_state(self) -> dict[str, Any]:
        """What it takes to act: everything learned, without the replay."""
        parts = {name: part for name, part in self.parts().items() if name != "replay"}
        return {"step": self.step, "parts": {name: part.state_dict() for name, part in parts.items()}}

    def load_policy(self, state: dict[str, Any]) -> None:
        self.step = state["step"]
        for name, part in self.parts().items():
            if name != "replay":
                part.load_state_dict(state["parts"][name])

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.step, self.updates = state["step"], state["updates"]
        self.rng.bit_generator.state = state["chance"]
        noise = state["noise"].cpu()
        if len(noise) == len(self.noise.get_state()):
            self.noise.set_state(noise)
        else:  # saved on another kind of device, whose generators are not ours
            self.noise.manual_seed(int(self.rng.integers(2**63)))
        for name, part in self.parts().items():
            part.load_state_dict(state["parts"][name])
        if state["envs"] is not None:
            self.envs.load_state_dict(state["envs"])
        elif "replay" in self.parts():
            self.parts()["replay"].load_state_dict({**state["parts"]["replay"], "pending": {}})


def set_learning_rate(optimizer: torch.optim.Optimizer, value: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = value


def linear(start: float, end: float, progress: float, fraction: float = 1.0) -> float:
    """From `start` to `end` over the first `fraction` of training, then constant."""
    return start + (end - start) * min(1.0, progress / fraction if fraction > 0 else 1.0)
