"""PPO: several epochs over each rollout, with the policy's ratio clipped (Schulman et al. 2017)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from gradsan.rl.agent import Agent, Stateful, set_learning_rate
from gradsan.rl.config import Config, require
from gradsan.rl.contracts import Contract
from gradsan.rl.envs import Envs
from gradsan.rl.networks import Target, seeded
from gradsan.rl.policies import ActorCritic
from gradsan.rl.rollout import Rollout, Samples

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class PPOConfig(Config):
    num_envs: int = 8
    rollout: int = 32
    """Steps per environment between updates."""
    epochs: int = 20
    """Passes over each rollout."""
    batch_size: int = 256
    learning_rate: float = 1e-3
    clip: float = 0.2
    """How far the new policy's ratio to the old one may move before its gradient stops."""
    anneal: bool = True
    """Let learning rate and clip range fall to zero over the training."""
    value_clip: float | None = None
    """How far a value may move from the collected one; none by default."""
    gamma: float = 0.98
    """Discount of future reward."""
    trace: float = 0.8
    """λ of generalised advantage estimation."""
    hidden: tuple[int, ...] = (64, 64)
    """Hidden layers of policy and value network, which share nothing."""
    value_weight: float = 0.5
    entropy_bonus: float = 0.0
    max_grad_norm: float = 0.5
    normalize: bool = False
    """Scale observations and rewards by their running statistics."""
    averaging: float = 0.05
    """Greedy play takes the weights' mean over about this last share of the updates; 0: the latest."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.rollout * self.num_envs > 1, "PPO normalises advantages: it needs more than one sample.")


class PPO(Agent):
    name = "ppo"

    def __init__(self, config: PPOConfig, envs: Envs) -> None:
        super().__init__(config, envs)
        self.config = config
        with seeded(self.weights_seed):
            self.networks = ActorCritic(self.observations, self.actions, config.hidden).to(self.device)
        # The latest policy may be a bad one between two good ones: greedy play averages (Polyak 1992).
        self.average = Target(self.networks)
        self.parameters = list(self.networks.parameters())
        self.optimizer = torch.optim.Adam(self.parameters, lr=config.learning_rate, eps=1e-5, fused=True)
        if config.normalize:
            envs.normalize(config.gamma)
        example = self.networks.policy(self.tensor(envs.obs)).greedy()[0]
        self.rollout = Rollout(config.rollout, envs.num_envs, self.observations, example)
        # One backward of the sum: the advantage is constant, so the policy's term cannot train the critic.
        reaches, avoids = {"policy and critic": self.networks}, {"average": self.average.network}
        self.declare(Contract("ppo", reaches, avoids))

    def advance(self) -> None:
        for _ in range(self.config.rollout):
            obs = self.envs.obs
            action = self.networks.policy(self.tensor(obs)).sample(self.rng)
            step = self.envs.step(self.actions.to_env(action))
            self.rollout.add(obs, action, step, following=self.envs.obs)
        self.step += self.rollout.valid_steps
        self.update(self.rollout.samples(self.value, self.config.gamma, self.config.trace, self.device))

    def update(self, samples: Samples) -> None:
        if not len(samples.value):  # all steps were spent on resets
            return
        config = self.config
        left = 1 - self.progress() if config.anneal else 1.0
        set_learning_rate(self.optimizer, config.learning_rate * left)
        old = self.networks.policy(samples.obs)
        self.metrics["entropy"] = old.entropy().mean()
        for batch, old_log_prob in self.minibatches(samples, old.log_prob(samples.action)):
            self.optimizer.zero_grad()
            loss = self.loss(batch, old_log_prob, epsilon=config.clip * left)
            self.check_contract("ppo", loss)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(self.parameters, config.max_grad_norm, foreach=True)
            self.optimizer.step()
        self.average.track(1 / (1 + config.averaging * self.updates))
        self.updates += 1

    def minibatches(self, samples: Samples, old_log_prob: Tensor) -> Iterator[tuple[Samples, Tensor]]:
        """All epochs, each in a new order. What is left over is shared out: a batch of a few samples would be a step
        into nowhere."""
        size, scaled = len(old_log_prob), scale_advantage(samples)
        if size <= self.config.batch_size:  # a single batch has no order
            yield from [(scaled, old_log_prob)] * self.config.epochs
            return
        for _ in range(self.config.epochs):
            order = torch.from_numpy(self.rng.permutation(size)).to(self.device)
            for chosen in torch.tensor_split(order, size // self.config.batch_size):
                yield Samples(*(field[chosen] for field in scaled)), old_log_prob[chosen]

    def loss(self, batch: Samples, old_log_prob: Tensor, epsilon: float) -> Tensor:
        """−L = −E[min(ρA, clip(ρ, 1 − ε, 1 + ε)A) − c₁(V − R)² + c₂ S], equations 7 and 9 of the paper."""
        config = self.config
        policy, value = self.networks(batch.obs)
        ratio = torch.exp(policy.log_prob(batch.action) - old_log_prob)
        advantage = batch.advantage
        surrogate = torch.min(ratio * advantage, torch.clamp(ratio, 1 - epsilon, 1 + epsilon) * advantage)
        if config.value_clip is None:
            value_loss = functional.mse_loss(value, batch.returns)
        else:
            value_loss = clipped_value_loss(value, batch.value, batch.returns, config.value_clip)
        loss = config.value_weight * value_loss - surrogate.mean()
        if config.entropy_bonus:
            loss = loss - config.entropy_bonus * policy.entropy().mean()
        return loss

    def value(self, obs: Array) -> NDArray[np.float32]:
        """Of observations [T, N, …], as constants."""
        flat = self.tensor(obs.reshape(-1, *obs.shape[2:]))
        return self.networks.value(flat).reshape(obs.shape[:2])

    def act(self, obs: Array) -> Array:
        seen = self.tensor(self.envs.scaled(obs))
        return self.actions.to_env(self.average.network.policy(seen).greedy())

    def parts(self) -> Mapping[str, Stateful]:
        parts: dict[str, Stateful] = {
            "networks": self.networks,
            "average": self.average.network,
            "optimizer": self.optimizer,
        }
        return parts if self.envs.scales is None else {**parts, "scales": self.envs.scales}


def scale_advantage(samples: Samples) -> Samples:
    """To mean 0 and deviation 1, so that the step size does not depend on the scale of rewards. Over the rollout, not
    batch by batch: a batch of dull samples must not speak as loud as one that has something to say. A single sample,
    all that is left of a rollout now and then, has no deviation."""
    if len(samples.advantage) == 1:
        return samples
    deviation, mean = torch.std_mean(samples.advantage)
    return samples._replace(advantage=(samples.advantage - mean) / (deviation + 1e-8))


def clipped_value_loss(value: Tensor, old_value: Tensor, returns: Tensor, clip: float) -> Tensor:
    """max((V − R)², (V_clipped − R)²), V_clipped within `clip` of the value at collection time (studied by Engstrom
    et al. 2020)."""
    clipped = old_value + torch.clamp(value - old_value, -clip, clip)
    return torch.max((value - returns) ** 2, (clipped - returns) ** 2).mean()
