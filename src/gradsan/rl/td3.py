"""TD3: deterministic actor, twin critics, delayed updates, smoothed targets (Fujimoto et al. 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
class TD3Config(Config):
    steps: int = 10_000
    learning_rate: float = 1e-3
    """Of actor and critics."""
    gamma: float = 0.98
    """Discount of future reward."""
    hidden: tuple[int, ...] = (400, 300)
    """Hidden layers of actor and critics."""
    batch_size: int = 256
    buffer_size: int = 200_000
    learning_starts: int = 1_000
    """Steps taken with random actions before the first update."""
    train_every: int = 1
    """Steps of all environments between rounds of updates."""
    updates_per_round: int = 1
    target_rate: float = 0.005
    """How far the targets move towards actor and critics, per update of the actor."""
    exploration_noise: float = 0.1
    """Deviation of the noise on actions taken, where bounds are ±1."""
    policy_delay: int = 2
    """Updates of the critics per update of the actor."""
    target_noise: float = 0.2
    """Deviation of the noise that smooths the target action."""
    target_noise_clip: float = 0.5
    averaging: float = 0.02
    """Greedy play uses the mean of the actor's weights over this last share of its updates; 0: the latest."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 < self.target_rate <= 1, "--target-rate must be above 0 and at most 1.")


class TD3(Agent):
    name = "td3"
    needs = "continuous"

    def __init__(self, config: TD3Config, envs: Envs) -> None:
        super().__init__(config, envs)
        self.config = config
        size, dimensions = self.observations.shape[0], self.actions.size
        with seeded(self.weights_seed):
            self.actor = mlp((size, *config.hidden, dimensions)).append(nn.Tanh()).to(self.device)
            self.critic = TwinCritic(size, dimensions, config.hidden).to(self.device)
        self.target_actor, self.target_critic = Target(self.actor), Target(self.critic)
        # The latest actor may be a bad one between two good ones: greedy play averages (Polyak 1992).
        self.average = Target(self.actor)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=config.learning_rate, fused=True)
        self.critic_optimizer = torch.optim.Adam(
            self.critic.parameters(), lr=config.learning_rate, fused=True
        )
        self.replay = Replay(
            config.buffer_size, self.observations, np.zeros(dimensions, np.float32), config.gamma
        )
        targets = {
            "target actor": self.target_actor.network,
            "target critic": self.target_critic.network,
            "average": self.average.network,
        }
        self.declare(
            Contract("critic", reaches={"critic": self.critic}, avoids={"actor": self.actor, **targets}),
            Contract("actor", reaches={"actor": self.actor}, avoids={"critic": self.critic, **targets}),
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
            noise = self.rng.standard_normal((len(obs), self.actions.size), dtype=np.float32)
            action = np.clip(self.choose(obs, self.actor) + self.config.exploration_noise * noise, -1, 1)
        step = self.envs.step(self.actions.from_unit(action))
        self.replay.add(obs, action, step)
        self.step += step.taken()

    def update(self, batch: Batch) -> None:
        self.update_critic(batch)
        self.updates += 1
        if self.updates % self.config.policy_delay == 0:
            self.update_actor(batch.obs)
            self.target_actor.track(self.config.target_rate)
            self.target_critic.track(self.config.target_rate)
            rounds = self.updates // self.config.policy_delay
            self.average.track(1 / (1 + self.config.averaging * (rounds - 1)))

    def update_critic(self, batch: Batch) -> None:
        """½ (Qᵢ(s, a) − y)², y = r + γ min Qᵢ⁻(s', ã), ã = π⁻(s') + clip(ε, −c, c): algorithm 1 of the paper."""
        config = self.config
        with torch.no_grad():
            noise = torch.randn(batch.action.shape, generator=self.noise, device=self.device)
            noise = torch.clamp(
                config.target_noise * noise, -config.target_noise_clip, config.target_noise_clip
            )
            next_action = torch.clamp(self.target_actor.network(batch.next_obs) + noise, -1, 1)
            next_q = torch.min(*self.target_critic.network(batch.next_obs, next_action))
            y = torch.where(batch.terminated, batch.reward, batch.reward + batch.discount * next_q)
        self.critic_optimizer.zero_grad()
        q1, q2 = self.critic(batch.obs, batch.action)
        loss = 0.5 * (functional.mse_loss(q1, y) + functional.mse_loss(q2, y))
        self.check_contract("critic", loss)
        loss.backward()  # type: ignore[no-untyped-call]
        self.critic_optimizer.step()

    def update_actor(self, obs: Tensor) -> None:
        """−Q₁(s, π(s)): the gradient flows through the first critic into the action."""
        self.actor_optimizer.zero_grad()
        action = self.actor(obs)
        with without_gradient(self.critic.q1.parameters()):
            q = self.critic.q1(torch.cat((obs, action), dim=1))
        loss = -q.mean()
        self.check_contract("actor", loss)
        loss.backward()
        self.actor_optimizer.step()

    @torch.no_grad()
    def choose(self, obs: Array, actor: nn.Module) -> NDArray[np.float32]:
        action: NDArray[np.float32] = actor(self.tensor(obs)).cpu().numpy()
        return action

    def act(self, obs: Array) -> Array:
        return self.actions.from_unit(self.choose(obs, self.average.network))

    def parts(self) -> Mapping[str, Stateful]:
        return {
            "actor": self.actor,
            "critic": self.critic,
            "target_actor": self.target_actor.network,
            "target_critic": self.target_critic.network,
            "average": self.average.network,
            "actor_optimizer": self.actor_optimizer,
            "critic_optimizer": self.critic_optimizer,
            "replay": self.replay,
        }
