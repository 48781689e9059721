"""REINFORCE with a learned baseline (Williams 1992): whole episodes, one update per batch of them."""

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
from gradsan.rl.config import Config
from gradsan.rl.contracts import Contract
from gradsan.rl.envs import Envs, EnvStep
from gradsan.rl.losses import n_step_returns
from gradsan.rl.networks import seeded
from gradsan.rl.policies import Policy, value_network

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class ReinforceConfig(Config):
    steps: int = 200_000
    num_envs: int = 8
    """One episode of each makes up an update."""
    learning_rate: float = 3e-3
    baseline_learning_rate: float = 1e-2
    baseline_updates: int = 10
    """Steps of the baseline towards the returns, per update of the policy."""
    gamma: float = 0.99
    """Discount of future reward."""
    hidden: tuple[int, ...] = (64, 64)
    """Hidden layers of policy and baseline."""
    entropy_bonus: float = 0.01
    """Weight of the policy's entropy: keeps it from settling too early."""
    max_episode_steps: int = 10_000
    """Longer episodes are cut, and bootstrapped with the baseline."""
    max_grad_norm: float = 0.5


class Reinforce(Agent):
    name = "reinforce"

    def __init__(self, config: ReinforceConfig, envs: Envs) -> None:
        super().__init__(config, envs)
        self.config = config
        with seeded(self.weights_seed):
            self.policy = Policy(self.observations, self.actions, config.hidden).to(self.device)
            self.baseline = value_network(self.observations, config.hidden).to(self.device)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=config.learning_rate, fused=True)
        self.baseline_optimizer = torch.optim.Adam(
            self.baseline.parameters(), lr=config.baseline_learning_rate, fused=True
        )
        self.declare(
            Contract("policy", reaches={"policy": self.policy}, avoids={"baseline": self.baseline}),
            Contract("baseline", reaches={"baseline": self.baseline}, avoids={"policy": self.policy}),
        )

    def advance(self) -> None:
        """One whole episode per environment: taking the first to finish would favour short ones."""
        obs, action, steps, running = self.episodes()
        reward, terminated, truncated = (
            np.stack([getattr(step, field) for step in steps])
            for field in ("reward", "terminated", "truncated")
        )
        truncated[-1] |= ~terminated[-1]
        next_value = np.stack([self.value(step.next_obs) for step in steps])
        returns = n_step_returns(reward, next_value, terminated, truncated, self.config.gamma)
        self.step += int(running.sum())
        self.update(obs[running], action[running], returns[running])

    def episodes(self) -> tuple[Array, Array, list[EnvStep], NDArray[np.bool_]]:
        """[T, N] of what happened, and where each first episode was still running."""
        self.envs.reset()
        running = np.ones(self.envs.num_envs, dtype=bool)
        seen: list[Array] = []
        taken: list[Array] = []
        steps: list[EnvStep] = []
        alive: list[NDArray[np.bool_]] = []
        while running.any() and len(steps) < self.config.max_episode_steps:
            seen.append(self.envs.obs)
            with torch.no_grad():
                taken.append(self.policy(self.tensor(self.envs.obs)).sample(self.rng))
            alive.append(running)
            known = len(self.envs.finished)
            step = self.envs.step(self.actions.to_env(taken[-1]))
            steps.append(step)
            ended = step.terminated | step.truncated
            # Copies that are through play on while they wait for the others; those episodes are not learned from.
            counted = zip(np.flatnonzero(ended), self.envs.finished[known:], strict=True)
            self.envs.finished[known:] = [episode for index, episode in counted if running[index]]
            running = running & ~ended
        return np.stack(seen), np.stack(taken), steps, np.stack(alive)

    def update(self, obs: Array, action: Array, returns: Array) -> None:
        """Δθ ∝ (R − b) ∇ log π(a | s), then the baseline b towards the returns R."""
        states, target = self.tensor(obs), self.tensor(returns)
        with torch.no_grad():
            advantage = target - self.baseline(states).squeeze(1)
            # Scaled to unit deviation, so that the learning rate fits rewards of any size.
            advantage = advantage / (advantage.square().mean().sqrt() + 1e-8)
        self.optimizer.zero_grad()
        policy = self.policy(states)
        log_prob = policy.log_prob(torch.from_numpy(action).to(self.device))
        entropy = policy.entropy().mean()
        loss = -(log_prob * advantage).mean() - self.config.entropy_bonus * entropy
        self.check_contract("policy", loss)
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), self.config.max_grad_norm)
        self.optimizer.step()
        for _ in range(self.config.baseline_updates):
            self.fit_baseline(states, target)
        self.metrics["entropy"] = entropy.detach()
        self.updates += 1

    def fit_baseline(self, states: Tensor, returns: Tensor) -> None:
        self.baseline_optimizer.zero_grad()
        loss = 0.5 * functional.mse_loss(self.baseline(states).squeeze(1), returns)
        self.check_contract("baseline", loss)
        loss.backward()  # type: ignore[no-untyped-call]
        self.baseline_optimizer.step()

    @torch.no_grad()
    def value(self, obs: Array) -> NDArray[np.float32]:
        value: NDArray[np.float32] = self.baseline(self.tensor(obs)).squeeze(1).cpu().numpy()
        return value

    @torch.no_grad()
    def act(self, obs: Array) -> Array:
        return self.actions.to_env(self.policy(self.tensor(obs)).greedy())

    def parts(self) -> Mapping[str, Stateful]:
        return {
            "policy": self.policy,
            "baseline": self.baseline,
            "optimizer": self.optimizer,
            "baseline_optimizer": self.baseline_optimizer,
        }
