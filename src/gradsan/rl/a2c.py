"""A2C: short rollouts of many environments, one update each (Mnih et al. 2016)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from gradsan.rl import losses
from gradsan.rl.agent import Agent, Stateful, linear, set_learning_rate
from gradsan.rl.config import Config
from gradsan.rl.contracts import Contract
from gradsan.rl.envs import Envs
from gradsan.rl.networks import seeded
from gradsan.rl.policies import policy_for, value_network
from gradsan.rl.rollout import Rollout, Samples
from gradsan.rl.spaces import Actions, Observations

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class A2CConfig(Config):
    num_envs: int = 8
    rollout: int = 5
    """Steps per environment between updates."""
    learning_rate: float = 7e-4
    anneal: bool = False
    """Let the learning rate fall to zero over the training."""
    gamma: float = 0.99
    """Discount of future reward."""
    trace: float = 1.0
    """λ of generalised advantage estimation; 1 is the n-step return."""
    hidden: tuple[int, ...] = (64, 64)
    """Hidden layers of policy and value network, which share nothing."""
    value_weight: float = 0.5
    entropy_bonus: float = 0.0
    max_grad_norm: float = 0.5


class A2C(Agent):
    name = "a2c"

    def __init__(self, config: A2CConfig, envs: Envs) -> None:
        super().__init__(config, envs)
        self.config = config
        observations = Observations.of(envs.vector.single_observation_space)
        self.actions = Actions.of(envs.vector.single_action_space)
        with seeded(self.weights_seed):
            self.policy = policy_for(observations, self.actions, config.hidden).to(self.device)
            self.critic = value_network(observations, config.hidden).to(self.device)
        networks = nn.ModuleList((self.policy, self.critic))
        self.optimizer = torch.optim.RMSprop(
            networks.parameters(), lr=config.learning_rate, alpha=0.99, eps=1e-5, foreach=True
        )
        example = self.policy.sample(self.tensor(envs.obs), np.random.default_rng(0))[0]
        self.rollout = Rollout(config.rollout, envs.num_envs, observations, example)
        # One backward of the sum: the advantage is constant, so the policy's term cannot train the critic.
        self.declare(Contract("a2c", reaches={"policy": self.policy, "critic": self.critic}))

    def advance(self) -> None:
        for _ in range(self.config.rollout):
            obs = self.envs.obs
            action = self.policy.sample(self.tensor(obs), self.rng)
            step = self.envs.step(self.actions.to_env(action))
            self.rollout.add(obs, action, step, following=self.envs.obs)
        self.step += self.rollout.valid_steps
        if self.config.anneal:
            set_learning_rate(self.optimizer, linear(self.config.learning_rate, 0.0, self.progress()))
        self.update(self.rollout.finish(self.value, self.config.gamma, self.config.trace, self.device))

    def update(self, samples: Samples) -> None:
        log_prob, entropy = self.policy.evaluate(samples.obs, samples.action)
        value = self.critic(samples.obs).squeeze(1)
        policy_loss = losses.a2c_loss(log_prob, samples.advantage)
        value_loss = losses.value_loss(value, samples.returns)
        loss = policy_loss + 2 * self.config.value_weight * value_loss
        if self.config.entropy_bonus:
            loss = loss - self.config.entropy_bonus * entropy.mean()
        self.descend("a2c", loss, self.optimizer, clip=self.config.max_grad_norm)
        self.metrics["entropy"] = entropy.detach().mean()
        self.updates += 1

    @torch.no_grad()
    def value(self, obs: Array) -> NDArray[np.float32]:
        value: NDArray[np.float32] = self.critic(self.tensor(obs)).squeeze(1).cpu().numpy()
        return value

    def act(self, obs: Array) -> Array:
        return self.actions.to_env(self.policy.greedy(self.tensor(obs)))

    def parts(self) -> Mapping[str, Stateful]:
        return {"policy": self.policy, "critic": self.critic, "optimizer": self.optimizer}
