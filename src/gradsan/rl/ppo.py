"""PPO: several epochs over each rollout, with the policy's ratio clipped (Schulman et al. 2017)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gradsan.rl import losses
from gradsan.rl.adam import FusedAdam
from gradsan.rl.agent import Agent, Stateful, set_learning_rate
from gradsan.rl.config import Config, require
from gradsan.rl.contracts import Contract
from gradsan.rl.envs import Envs, EnvStep
from gradsan.rl.networks import Target, seeded
from gradsan.rl.normalize import RewardScale, RunningNorm
from gradsan.rl.policies import ActorCritic
from gradsan.rl.rollout import Rollout, Samples
from gradsan.rl.spaces import Actions, Observations

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
    averaging: float = 0.2
    """Greedy play takes the weights' mean over about this last share of the updates; 0: the latest."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.rollout * self.num_envs > 1, "PPO normalises advantages: it needs more than one sample.")


class PPO(Agent):
    name = "ppo"

    def __init__(self, config: PPOConfig, envs: Envs) -> None:
        super().__init__(config, envs)
        self.config = config
        observations = Observations.of(envs.vector.single_observation_space)
        self.actions = Actions.of(envs.vector.single_action_space)
        with seeded(self.weights_seed):
            self.networks = ActorCritic(observations, self.actions, config.hidden).to(self.device)
        # The latest policy may be a bad one between two good ones: greedy play averages (Polyak 1992).
        self.average = Target(self.networks)
        self.optimizer = FusedAdam(self.networks.parameters(), config.learning_rate, eps=1e-5)
        normalize = config.normalize and not observations.image
        self.obs_norm = RunningNorm(observations.shape) if normalize else None
        self.reward_scale = RewardScale(envs.num_envs, config.gamma) if config.normalize else None
        if self.obs_norm is not None:
            self.obs_norm.update(envs.obs)
        example = self.networks.policy(self.tensor(envs.obs)).greedy()[0]
        self.rollout = Rollout(config.rollout, envs.num_envs, observations, example)
        # One backward of the sum: the advantage is constant, so the policy's term cannot train the critic.
        reaches, avoids = {"policy and critic": self.networks}, {"average": self.average.network}
        self.declare(Contract("ppo", reaches, avoids))

    def advance(self) -> None:
        for _ in range(self.config.rollout):
            obs = self.scaled(self.envs.obs)
            action = self.networks.policy(self.tensor(obs)).sample(self.rng)
            step = self.normalized(self.envs.step(self.actions.to_env(action)))
            self.rollout.add(obs, action, step, following=self.scaled(self.envs.obs))
        self.step += self.rollout.valid_steps
        self.update(self.samples())

    def samples(self) -> Samples:
        return self.rollout.samples(self.value, self.config.gamma, self.config.trace, self.device)

    def update(self, samples: Samples) -> None:
        if not len(samples.value):  # all steps were spent on resets
            return
        config = self.config
        left = 1 - self.progress() if config.anneal else 1.0
        set_learning_rate(self.optimizer, config.learning_rate * left)
        old = self.networks.policy(samples.obs)
        self.metrics["entropy"] = old.entropy().mean()
        for batch, old_log_prob in self.minibatches(samples, old.log_prob(samples.action)):
            loss = self.loss(batch, old_log_prob, config.clip * left)
            self.descend("ppo", loss, self.optimizer, clip=config.max_grad_norm)
        self.average.track(1 / (1 + config.averaging * self.updates))
        self.updates += 1

    def minibatches(self, samples: Samples, old_log_prob: Tensor) -> Iterator[tuple[Samples, Tensor]]:
        """All epochs, each in a new order, with advantages by the critic as it is by then (Andrychowicz et al. 2021).
        What is left over is shared out: a batch of a few samples would be a step into nowhere."""
        size = len(old_log_prob)
        if size <= self.config.batch_size:  # a single batch has no order, and one step moves no critic far
            yield from [(scale_advantage(samples), old_log_prob)] * self.config.epochs
            return
        for epoch in range(self.config.epochs):
            latest = self.samples()._replace(value=samples.value) if epoch else samples
            scaled = scale_advantage(latest)
            order = torch.from_numpy(self.rng.permutation(size)).to(self.device)
            for chosen in torch.tensor_split(order, size // self.config.batch_size):
                yield Samples(*(field[chosen] for field in scaled)), old_log_prob[chosen]

    def loss(self, batch: Samples, old_log_prob: Tensor, clip: float) -> Tensor:
        config = self.config
        chosen, value = self.networks(batch.obs)
        log_prob = chosen.log_prob(batch.action)
        policy_loss = losses.ppo_clip_loss(log_prob, old_log_prob, batch.advantage, clip)
        if config.value_clip is None:
            value_loss = losses.value_loss(value, batch.returns)
        else:
            value_loss = losses.ppo_value_loss(value, batch.value, batch.returns, config.value_clip)
        loss = torch.add(policy_loss, value_loss, alpha=2 * config.value_weight)
        return loss - config.entropy_bonus * chosen.entropy().mean() if config.entropy_bonus else loss

    def scaled(self, obs: Array) -> Array:
        return obs if self.obs_norm is None else self.obs_norm(obs)

    def normalized(self, step: EnvStep) -> EnvStep:
        """Updates the running statistics, then scales. What counts is what the agent acts on next: after an end,
        that is the first observation of a new episode."""
        if self.obs_norm is not None:
            self.obs_norm.update(self.envs.obs[self.envs.running])
            step = step._replace(next_obs=self.obs_norm(step.next_obs))
        if self.reward_scale is not None:
            ended = step.terminated | step.truncated
            step = step._replace(reward=self.reward_scale(step.reward, ended, step.valid))
        return step

    def value(self, obs: Array) -> NDArray[np.float32]:
        return self.networks.value(self.tensor(obs))

    def act(self, obs: Array) -> Array:
        return self.actions.to_env(self.average.network.policy(self.tensor(self.scaled(obs))).greedy())

    def parts(self) -> Mapping[str, Stateful]:
        parts: dict[str, Stateful] = {
            "networks": self.networks,
            "average": self.average.network,
            "optimizer": self.optimizer,
        }
        if self.obs_norm is not None:
            parts["obs_norm"] = self.obs_norm
        if self.reward_scale is not None:
            parts["reward_scale"] = self.reward_scale
        return parts


def scale_advantage(samples: Samples) -> Samples:
    """To mean 0 and deviation 1, so that the step size does not depend on the scale of rewards. Over the rollout, not
    batch by batch: a batch of dull samples must not speak as loud as one that has something to say. A single sample,
    all that is left of a rollout now and then, has no deviation."""
    if len(samples.advantage) == 1:
        return samples
    deviation, mean = torch.std_mean(samples.advantage)
    return samples._replace(advantage=(samples.advantage - mean) / (deviation + 1e-8))
