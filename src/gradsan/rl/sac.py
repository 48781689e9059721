"""SAC: maximum-entropy actor-critic with a learned temperature (Haarnoja et al. 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gradsan.rl import losses
from gradsan.rl.adam import FusedAdam
from gradsan.rl.agent import Agent, Stateful
from gradsan.rl.config import Config, require
from gradsan.rl.contracts import Contract
from gradsan.rl.envs import Envs
from gradsan.rl.networks import Perceptron, Target, TwinCritic, seeded
from gradsan.rl.replay import Batch, Replay
from gradsan.rl.spaces import vector_control
from gradsan.rl.without_gradient import without_gradient

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class SACConfig(Config):
    steps: int = 20_000
    learning_rate: float = 1e-3
    """Of actor, critics and temperature."""
    gamma: float = 0.99
    """Discount of future reward."""
    hidden: tuple[int, ...] = (256, 256)
    """Hidden layers of actor and critics."""
    batch_size: int = 256
    buffer_size: int = 1_000_000
    learning_starts: int = 100
    """Steps taken with random actions before the first update."""
    train_every: int = 1
    """Steps of all environments between rounds of updates."""
    updates_per_round: int = 1
    target_rate: float = 0.005
    """How far the target critics move towards the critics, per update."""
    temperature: float | None = None
    """Weight of the entropy; learned by default."""
    target_entropy: float | None = None
    """What the temperature is learned for; minus the number of action dimensions by default."""
    averaging: float = 0.02
    """Greedy play uses the mean of the actor's weights over this last share of the updates; 0: the latest."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 < self.target_rate <= 1, "--target-rate must be above 0 and at most 1.")


class SquashedActor(nn.Module):
    """Mean and log-deviation of a Gaussian that `tanh` squashes into [-1, 1]."""

    def __init__(self, obs_size: int, action_size: int, hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.net = Perceptron((obs_size, *hidden, 2 * action_size))

    def forward(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        mean, log_std = self.net(obs).chunk(2, dim=1)
        return mean, log_std.clamp(-20, 2)


class Temperature(nn.Module):
    """Weight of the entropy, learned as its logarithm so that it stays positive."""

    def __init__(self, start: float) -> None:
        super().__init__()
        tiny = torch.finfo(torch.float32).tiny  # as good as none, and its logarithm is a number
        self.log = nn.Parameter(torch.tensor(start).clamp(min=tiny).log())

    def forward(self) -> Tensor:
        """Its value, as a constant: actor and critics must not train it."""
        return self.log.detach().exp()


class SAC(Agent):
    name = "sac"

    def __init__(self, config: SACConfig, envs: Envs) -> None:
        super().__init__(config, envs)
        self.config = config
        observations, self.actions = vector_control(
            envs.vector.single_observation_space, envs.vector.single_action_space
        )
        sizes = (observations.shape[0], self.actions.size, config.hidden)
        with seeded(self.weights_seed):
            self.actor = SquashedActor(*sizes).to(self.device)
            self.critic = TwinCritic(*sizes).to(self.device)
        self.target = Target(self.critic)
        # The latest actor may be a bad one between two good ones: greedy play averages (Polyak 1992).
        self.average = Target(self.actor)
        start = 1.0 if config.temperature is None else config.temperature
        self.temperature = Temperature(start).to(self.device)
        self.target_entropy = (
            -float(self.actions.size) if config.target_entropy is None else config.target_entropy
        )
        self.actor_optimizer = FusedAdam(self.actor.parameters(), config.learning_rate)
        self.critic_optimizer = FusedAdam(self.critic.parameters(), config.learning_rate)
        self.temperature_optimizer = FusedAdam(self.temperature.parameters(), config.learning_rate)
        self.replay = Replay(
            config.buffer_size, observations, np.zeros(self.actions.size, np.float32), config.gamma
        )
        constants: dict[str, nn.Module] = {
            "target": self.target.network,
            "temperature": self.temperature,
            "average": self.average.network,
        }
        self.declare(
            Contract("critic", reaches={"critic": self.critic}, avoids={"actor": self.actor, **constants}),
            Contract("actor", reaches={"actor": self.actor}, avoids={"critic": self.critic, **constants}),
            Contract(
                "temperature",
                reaches={"temperature": self.temperature},
                avoids={"actor": self.actor, "critic": self.critic},
            ),
        )

    def advance(self) -> None:
        for _ in range(self.config.train_every):
            self.interact()
        if self.step > self.config.learning_starts:
            for _ in range(self.config.updates_per_round):
                self.update(self.replay.sample(self.config.batch_size, self.rng, self.device))

    def interact(self) -> None:
        obs = self.envs.obs
        if self.step < self.config.learning_starts:
            action = self.rng.uniform(-1, 1, (len(obs), self.actions.size)).astype(np.float32)
        else:
            action = self.explore(self.tensor(obs)).cpu().numpy()
        step = self.envs.step(self.actions.from_unit(action))
        self.replay.add(obs, action, step)
        self.step += step.taken()

    def update(self, batch: Batch) -> None:
        temperature = self.temperature()
        with torch.no_grad():
            next_action, next_log_prob = self.sample(batch.next_obs)
            next_q = self.target.network(batch.next_obs, next_action)
            target = losses.sac_target(
                batch.reward, batch.terminated, next_q, next_log_prob, temperature, batch.discount
            )
        critic_loss = losses.twin_critic_loss(self.critic(batch.obs, batch.action), target)
        self.descend("critic", critic_loss, self.critic_optimizer)

        action, log_prob = self.sample(batch.obs)
        with without_gradient(self.critic.parameters()):
            q = self.critic(batch.obs, action)
        actor_loss = losses.sac_actor_loss(log_prob, q, temperature)
        self.descend("actor", actor_loss, self.actor_optimizer)

        if self.config.temperature is None:
            temperature_loss = losses.sac_temperature_loss(
                self.temperature.log, log_prob.detach(), self.target_entropy
            )
            self.descend("temperature", temperature_loss, self.temperature_optimizer)
        self.target.track(self.config.target_rate)
        self.average.track(1 / (1 + self.config.averaging * self.updates))
        self.metrics["temperature"] = temperature
        self.updates += 1

    def sample(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        mean, log_std = self.actor(obs)
        return losses.tanh_gaussian_sample(mean, log_std, self.noise_like(mean))

    @torch.no_grad()
    def explore(self, obs: Tensor) -> Tensor:
        """For acting: a sample without its density, and without a graph."""
        mean, log_std = self.actor(obs)
        return torch.tanh(mean + log_std.exp() * self.noise_like(mean))

    def noise_like(self, mean: Tensor) -> Tensor:
        return torch.randn(mean.shape, generator=self.noise, device=self.device)

    @torch.no_grad()
    def act(self, obs: Array) -> Array:
        mean, _ = self.average.network(self.tensor(obs))
        return self.actions.from_unit(mean.tanh().cpu().numpy())

    def parts(self) -> Mapping[str, Stateful]:
        return {
            "actor": self.actor,
            "critic": self.critic,
            "target": self.target.network,
            "average": self.average.network,
            "temperature": self.temperature,
            "actor_optimizer": self.actor_optimizer,
            "critic_optimizer": self.critic_optimizer,
            "temperature_optimizer": self.temperature_optimizer,
            "replay": self.replay,
        }
