"""Stochastic policies of REINFORCE, A2C and PPO: categorical for choices, Gaussian for vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gradsan.rl import losses
from gradsan.rl.networks import body, orthogonal
from gradsan.rl.spaces import Actions, Observations

Array = NDArray[Any]


class CategoricalPolicy(nn.Module):
    def __init__(self, observations: Observations, actions: Actions, hidden: Sequence[int]) -> None:
        super().__init__()
        self.net = orthogonal(body(observations, hidden, actions.size, nn.Tanh), last_gain=0.01)

    def evaluate(self, obs: Tensor, action: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probability and entropy, with a graph."""
        logits = self.net(obs)
        return losses.categorical_log_prob(logits, action), losses.categorical_entropy(logits)

    @torch.no_grad()
    def sample(self, obs: Tensor, rng: np.random.Generator) -> Array:
        logits = self.net(obs).cpu().numpy()
        # The largest of logits plus Gumbel noise is a sample of their softmax, without computing it.
        choice: Array = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
        return choice

    @torch.no_grad()
    def greedy(self, obs: Tensor) -> Array:
        choice: Array = self.net(obs).argmax(dim=1).cpu().numpy()
        return choice


class GaussianPolicy(nn.Module):
    """Mean from the observation; one deviation per dimension, learned, the same everywhere."""

    def __init__(self, observations: Observations, actions: Actions, hidden: Sequence[int]) -> None:
        super().__init__()
        self.net = orthogonal(body(observations, hidden, actions.size, nn.Tanh), last_gain=0.01)
        self.log_std = nn.Parameter(torch.zeros(actions.size))

    def evaluate(self, obs: Tensor, action: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probability and entropy, with a graph."""
        mean = self.net(obs)
        log_std = self.log_std.expand_as(mean)
        return losses.gaussian_log_prob(mean, log_std, action), losses.gaussian_entropy(log_std)

    @torch.no_grad()
    def sample(self, obs: Tensor, rng: np.random.Generator) -> Array:
        mean = self.net(obs).cpu().numpy()
        noise = rng.standard_normal(mean.shape, dtype=np.float32)
        action: Array = mean + np.exp(self.log_std.cpu().numpy()) * noise
        return action

    @torch.no_grad()
    def greedy(self, obs: Tensor) -> Array:
        mean: Array = self.net(obs).cpu().numpy()
        return mean


Policy = CategoricalPolicy | GaussianPolicy


def policy_for(observations: Observations, actions: Actions, hidden: Sequence[int]) -> Policy:
    kind = CategoricalPolicy if actions.discrete else GaussianPolicy
    return kind(observations, actions, hidden)


def value_network(observations: Observations, hidden: Sequence[int]) -> nn.Module:
    return orthogonal(body(observations, hidden, 1, nn.Tanh), last_gain=1.0)
