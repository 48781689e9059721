"""SAC: maximum-entropy actor-critic with a learned temperature (Haarnoja et al. 2018)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from gradsan.rl.agent import Agent, Stateful
from gradsan.rl.config import Config, require
from gradsan.rl.contracts import Contract
from gradsan.rl.envs import Envs
from gradsan.rl.networks import Target, TwinCritic, mlp, seeded
from gradsan.rl.replay import Batch, Replay
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
    """A Gaussian that `tanh` squashes into [-1, 1]: a = tanh(u), u = μ(s) + σ(s) ε (appendix C)."""

    def __init__(self, obs_size: int, action_size: int, hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.net = mlp((obs_size, *hidden, 2 * action_size))

    def forward(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and log-deviation of u."""
        mean, log_std = self.net(obs).chunk(2, dim=1)
        return mean, log_std.clamp(-20, 2)

    def sample(self, obs: Tensor, noise: torch.Generator) -> tuple[Tensor, Tensor]:
        """An action that the gradient flows through, and log π(a | s) = log N(u; μ, σ) − Σ log(1 − tanh²(u))."""
        mean, log_std = self(obs)
        epsilon = torch.randn(mean.shape, generator=noise, device=mean.device)
        u = mean + log_std.exp() * epsilon
        log_normal = -0.5 * epsilon**2 - log_std - 0.5 * math.log(2 * math.pi)
        # log(1 − tanh²(u)) in a form that stays finite where tanh has saturated to ±1.
        log_volume = 2 * (math.log(2) - u - functional.softplus(-2 * u))
        return torch.tanh(u), (log_normal - log_volume).sum(dim=1)


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
    needs = "continuous"

    def __init__(self, config: SACConfig, envs: Envs) -> None:
        super().__init__(config, envs)
        self.config = config
        sizes = (self.observations.shape[0], self.actions.size, config.hidden)
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
        adam = partial(torch.optim.Adam, fused=True)
        self.actor_optimizer = adam(self.actor.parameters(), lr=config.learning_rate)
        self.critic_optimizer = adam(self.critic.parameters(), lr=config.learning_rate)
        self.temperature_optimizer = adam(self.temperature.parameters(), lr=config.learning_rate)
        self.replay = Replay(
            config.buffer_size, self.observations, np.zeros(self.actions.size, np.float32), config.gamma
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
            with torch.no_grad():
                action = self.actor.sample(self.tensor(obs), self.noise)[0].cpu().numpy()
        step = self.envs.step(self.actions.from_unit(action))
        self.replay.add(obs, action, step)
        self.step += step.taken()

    def update(self, batch: Batch) -> None:
        temperature = self.temperature()
        self.update_critic(batch, temperature)
        log_prob = self.update_actor(batch.obs, temperature)
        if self.config.temperature is None:
            self.update_temperature(log_prob)
        self.target.track(self.config.target_rate)
        self.average.track(1 / (1 + self.config.averaging * self.updates))
        self.metrics["temperature"] = temperature
        self.updates += 1

    def update_critic(self, batch: Batch, temperature: Tensor) -> None:
        """½ (Qᵢ(s, a) − y)², y = r + γ (min Qᵢ⁻(s', a') − α log π(a' | s')), with a' of the current policy."""
        with torch.no_grad():
            next_action, next_log_prob = self.actor.sample(batch.next_obs, self.noise)
            next_q = torch.min(*self.target.network(batch.next_obs, next_action))
            next_value = next_q - temperature * next_log_prob
            y = torch.where(batch.terminated, batch.reward, batch.reward + batch.discount * next_value)
        self.critic_optimizer.zero_grad()
        q1, q2 = self.critic(batch.obs, batch.action)
        loss = 0.5 * (functional.mse_loss(q1, y) + functional.mse_loss(q2, y))
        self.check_contract("critic", loss)
        loss.backward()  # type: ignore[no-untyped-call]
        self.critic_optimizer.step()

    def update_actor(self, obs: Tensor, temperature: Tensor) -> Tensor:
        """α log π(a | s) − min Qᵢ(s, a). The gradient flows through the critic into the action."""
        self.actor_optimizer.zero_grad()
        action, log_prob = self.actor.sample(obs, self.noise)
        with without_gradient(self.critic.parameters()):
            q = torch.min(*self.critic(obs, action))
        loss = (temperature * log_prob - q).mean()
        self.check_contract("actor", loss)
        loss.backward()
        self.actor_optimizer.step()
        return log_prob.detach()

    def update_temperature(self, log_prob: Tensor) -> None:
        """−log α · (log π(a | s) + H̄): raises α while the entropy is below its target H̄."""
        self.temperature_optimizer.zero_grad()
        loss = -(self.temperature.log * (log_prob + self.target_entropy)).mean()
        self.check_contract("temperature", loss)
        loss.backward()  # type: ignore[no-untyped-call]
        self.temperature_optimizer.step()

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
