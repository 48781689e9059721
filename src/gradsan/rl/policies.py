"""Stochastic policies of REINFORCE, A2C and PPO: categorical for choices (one or several), Gaussian for vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gradsan.rl import losses
from gradsan.rl.networks import Tanh, network, orthogonal
from gradsan.rl.spaces import Actions, Observations

Array = NDArray[Any]


class Categorical(NamedTuple):
    """Distribution over choices; log-probability and entropy are computed when asked for, with a graph."""

    logits: Tensor

    def log_prob(self, action: Tensor) -> Tensor:
        return losses.categorical_log_prob(self.logits, action)

    def entropy(self) -> Tensor:
        return losses.categorical_entropy(self.logits)

    def sample(self, rng: np.random.Generator) -> Array:
        # The largest of logits plus Gumbel noise is a sample of their softmax, without computing it.
        logits = self.logits.detach().cpu().numpy()
        choice: Array = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
        return choice

    def greedy(self) -> Array:
        choice: Array = self.logits.argmax(dim=1).cpu().numpy()
        return choice


class MultiCategorical(NamedTuple):
    """Several independent choices at once; their log-probabilities and entropies add up."""

    choices: tuple[Categorical, ...]

    def log_prob(self, action: Tensor) -> Tensor:
        own = zip(self.choices, action.unbind(dim=1), strict=True)
        return torch.stack([choice.log_prob(taken) for choice, taken in own]).sum(dim=0)

    def entropy(self) -> Tensor:
        return torch.stack([choice.entropy() for choice in self.choices]).sum(dim=0)

    def sample(self, rng: np.random.Generator) -> Array:
        return np.stack([choice.sample(rng) for choice in self.choices], axis=1)

    def greedy(self) -> Array:
        return np.stack([choice.greedy() for choice in self.choices], axis=1)


class Gaussian(NamedTuple):
    """The same over vectors."""

    mean: Tensor
    log_std: Tensor

    def log_prob(self, action: Tensor) -> Tensor:
        return losses.gaussian_log_prob(self.mean, self.log_std, action)

    def entropy(self) -> Tensor:
        return losses.gaussian_entropy(self.log_std)

    def sample(self, rng: np.random.Generator) -> Array:
        mean, log_std = self.mean.detach().cpu().numpy(), self.log_std.detach().cpu().numpy()
        action: Array = mean + np.exp(log_std) * rng.standard_normal(mean.shape, dtype=np.float32)
        return action

    def greedy(self) -> Array:
        mean: Array = self.mean.detach().cpu().numpy()
        return mean


Distribution = Categorical | MultiCategorical | Gaussian


class Head(nn.Module):
    """Makes a distribution of a network's output. Deviations are learned, one per dimension."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self.choices, self.several = actions.choices, actions.several
        self.log_std = None if self.choices else nn.Parameter(torch.zeros(actions.size))

    def forward(self, output: Tensor) -> Distribution:
        if self.several:
            return MultiCategorical(tuple(map(Categorical, torch.split(output, list(self.choices), dim=1))))
        if self.log_std is None:
            return Categorical(output)
        # Even under no_grad, a view of a leaf says that it requires grad; what the agent acts with must not.
        log_std = self.log_std if torch.is_grad_enabled() else self.log_std.detach()
        return Gaussian(output, log_std.expand_as(output))


class Policy(nn.Module):
    """A policy on its own, as REINFORCE trains it."""

    def __init__(self, observations: Observations, actions: Actions, hidden: Sequence[int]) -> None:
        super().__init__()
        self.net = orthogonal(network(observations, hidden, actions.size, Tanh), last_gain=0.01)
        self.head = Head(actions)

    def forward(self, obs: Tensor) -> Distribution:
        distribution: Distribution = self.head(self.net(obs))
        return distribution


class ActorCritic(nn.Module):
    """Policy and value network, which share nothing but their shape, as A2C and PPO train them."""

    def __init__(self, observations: Observations, actions: Actions, hidden: Sequence[int]) -> None:
        super().__init__()
        self.actor = Policy(observations, actions, hidden)
        self.critic = value_network(observations, hidden)

    def forward(self, obs: Tensor) -> tuple[Distribution, Tensor]:
        return self.actor(obs), self.critic(obs).squeeze(1)

    @torch.no_grad()
    def policy(self, obs: Tensor) -> Distribution:
        """For acting: no value is computed, and no graph."""
        distribution: Distribution = self.actor(obs)
        return distribution

    @torch.no_grad()
    def value(self, obs: Tensor) -> NDArray[np.float32]:
        """As constants, for advantages."""
        value: NDArray[np.float32] = self.critic(obs).squeeze(1).cpu().numpy()
        return value


def value_network(observations: Observations, hidden: Sequence[int]) -> nn.Module:
    return orthogonal(network(observations, hidden, 1, Tanh), last_gain=1.0)
