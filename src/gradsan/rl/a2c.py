"""A2C: short rollouts of many environments, one update each (Mnih et al. 2016)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from gradsan.rl.agent import Agent, Stateful, linear, set_learning_rate
from gradsan.rl.config import Config
from gradsan.rl.contracts import Contract
from gradsan.rl.envs import Envs
from gradsan.rl.networks import Target, seeded
from gradsan.rl.policies import ActorCritic
from gradsan.rl.rollout import Rollout, Samples

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
    averaging: float = 0.7
    """Greedy play takes the weights' mean over about this last share of the updates; 0: the latest."""


class A2C(Agent):
    name = "a2c"

    def __init__(self, config: A2CConfig, envs: Envs) -> None:
        super().__init__(config, envs)
        self.config = config
        with seeded(self.weights_seed):
            self.networks = ActorCritic(self.observations, self.actions, config.hidden).to(self.device)
        # One update on 40 samples can throw a good policy off: greedy play averages over many (Polyak 1992).
        self.average = Target(self.networks)
        self.parameters = list(self.networks.parameters())
        self.optimizer = torch.optim.RMSprop(
            self.parameters, lr=config.learning_rate, alpha=0.99, eps=1e-5, foreach=True
        )
        example = self.networks.policy(self.tensor(envs.obs)).greedy()[0]
        self.rollout = Rollout(config.rollout, envs.num_envs, self.observations, example)
        # One backward of the sum: the advantage is constant, so the policy's term cannot train the critic.
        reaches, avoids = {"policy and critic": self.networks}, {"average": self.average.network}
        self.declare(Contract("a2c", reaches, avoids))

    def advance(self) -> None:
        for _ in range(self.config.rollout):
            obs = self.envs.obs
            action = self.networks.policy(self.tensor(obs)).sample(self.rng)
            step = self.envs.step(self.actions.to_env(action))
            self.rollout.add(obs, action, step, following=self.envs.obs)
        self.step += self.rollout.valid_steps
        if self.config.anneal:
            set_learning_rate(self.optimizer, linear(self.config.learning_rate, 0.0, self.progress()))
        self.update(self.rollout.samples(self.value, self.config.gamma, self.config.trace, self.device))

    def update(self, samples: Samples) -> None:
        """∇ log π(a | s) · A for the policy, ∇ (R − V(s))² for the critic, and the entropy's (algorithm S3)."""
        if not len(samples.value):  # all steps were spent on resets
            return
        config = self.config
        self.optimizer.zero_grad()
        policy, value = self.networks(samples.obs)
        policy_loss = -(policy.log_prob(samples.action) * samples.advantage).mean()
        value_loss = functional.mse_loss(value, samples.returns)
        loss = policy_loss + config.value_weight * value_loss
        if config.entropy_bonus:
            entropy = policy.entropy().mean()
            loss = loss - config.entropy_bonus * entropy
            self.metrics["entropy"] = entropy.detach()
        self.check_contract("a2c", loss)
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, config.max_grad_norm, foreach=True)
        self.optimizer.step()
        self.average.track(1 / (1 + config.averaging * self.updates))
        self.updates += 1

    def value(self, obs: Array) -> NDArray[np.float32]:
        """Of observations [T, N, …], as constants."""
        flat = self.tensor(obs.reshape(-1, *obs.shape[2:]))
        return self.networks.value(flat).reshape(obs.shape[:2])

    def act(self, obs: Array) -> Array:
        return self.actions.to_env(self.average.network.policy(self.tensor(obs)).greedy())

    def parts(self) -> Mapping[str, Stateful]:
        return {"networks": self.networks, "average": self.average.network, "optimizer": self.optimizer}
