"""REINFORCE with a learned baseline (Williams 1992): whole episodes, one update per batch of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gradsan.rl import losses
from gradsan.rl.adam import FusedAdam
from gradsan.rl.agent import Agent, Stateful
from gradsan.rl.config import Config
from gradsan.rl.contracts import Contract
from gradsan.rl.envs import Envs, EnvStep
from gradsan.rl.networks import seeded
from gradsan.rl.policies import Policy, value_network
from gradsan.rl.spaces import Actions, Observations

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
        observations = Observations.of(envs.vector.single_observation_space)
        self.actions = Actions.of(envs.vector.single_action_space)
        with seeded(self.weights_seed):
            self.policy = Policy(observations, self.actions, config.hidden).to(self.device)
            self.baseline = value_network(observations, config.hidden).to(self.device)
        self.optimizer = FusedAdam(self.policy.parameters(), config.learning_rate)
        self.baseline_optimizer = FusedAdam(self.baseline.parameters(), config.baseline_learning_rate)
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
        returns = losses.n_step_returns(reward, next_value, terminated, truncated, self.config.gamma)
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
        states, target = self.tensor(obs), self.tensor(returns)
        with torch.no_grad():
            baseline = self.baseline(states).squeeze(1)
            # Scaled to unit deviation, so that the learning rate fits rewards of any size.
            scale = (target - baseline).square().mean().sqrt() + 1e-8
        chosen = self.policy(states)
        log_prob = chosen.log_prob(torch.from_numpy(action).to(self.device))
        policy_loss = losses.reinforce_loss(log_prob, target / scale, baseline / scale)
        entropy = chosen.entropy().mean()
        loss = policy_loss - self.config.entropy_bonus * entropy
        self.descend("policy", loss, self.optimizer, clip=self.config.max_grad_norm)
        for _ in range(self.config.baseline_updates):
            fit = losses.value_loss(self.baseline(states).squeeze(1), target)
            self.descend("baseline", fit, self.baseline_optimizer)
        self.metrics["entropy"] = entropy.detach()
        self.updates += 1

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
