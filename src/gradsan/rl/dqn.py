"""DQN: Q-learning with replay and a target network (Mnih et al. 2015), double and n-step where asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from gradsan.rl.agent import Agent, Stateful, linear
from gradsan.rl.config import Config, require
from gradsan.rl.contracts import Contract
from gradsan.rl.envs import Envs
from gradsan.rl.networks import Target, network, seeded
from gradsan.rl.replay import Batch, Replay

TOGETHER = 16  # batches that are drawn, and whose targets are computed, at once


@dataclass(frozen=True, kw_only=True)
class DQNConfig(Config):
    steps: int = 50_000
    learning_rate: float = 2.3e-3
    gamma: float = 0.99
    """Discount of future reward."""
    hidden: tuple[int, ...] = (256, 256)
    """Hidden layers of the Q-network; images go through a convolutional encoder instead."""
    loss: Literal["huber", "squared"] = "squared"
    """Shape of the TD loss; huber bounds the gradient of large errors. Measured in docs/rl.md."""
    double: bool = False
    """Choose the next action with the online network (van Hasselt et al. 2016)."""
    n_step: int = 1
    """Rewards summed before bootstrapping."""
    batch_size: int = 64
    buffer_size: int = 100_000
    learning_starts: int = 1_000
    """Steps taken with random actions before the first update."""
    train_every: int = 256
    """Steps between rounds of updates."""
    updates_per_round: int = 128
    target_every: int = 10
    """Steps between updates of the target network."""
    target_rate: float = 1.0
    """1 copies the online network, less moves towards it."""
    epsilon_start: float = 1.0
    epsilon_end: float = 0.04
    epsilon_fraction: float = 0.16
    """Share of training over which epsilon falls."""
    max_grad_norm: float = 10.0
    averaging: float = 0.05
    """Greedy play takes the weights' mean over about this last share of the updates; 0: the latest."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 < self.target_rate <= 1, "--target-rate must be above 0 and at most 1.")


class DQN(Agent):
    name = "dqn"
    needs = "discrete"

    def __init__(self, config: DQNConfig, envs: Envs) -> None:
        super().__init__(config, envs)
        self.config = config
        with seeded(self.weights_seed):
            self.q = network(self.observations, config.hidden, self.actions.size).to(self.device)
        self.target = Target(self.q)
        self.copied_at = -1  # update after which the target was last moved
        # The latest Q-network may be a bad one between two good ones: greedy play averages (Polyak 1992).
        self.average = Target(self.q)
        self.parameters = list(self.q.parameters())
        self.optimizer = torch.optim.Adam(self.parameters, lr=config.learning_rate, fused=True)
        self.replay = Replay(
            config.buffer_size, self.observations, np.zeros((), np.int64), config.gamma, config.n_step
        )
        constants = {"target": self.target.network, "average": self.average.network}
        self.declare(Contract("td", reaches={"q": self.q}, avoids=constants))

    def advance(self) -> None:
        """Steps until the next round of updates, then the round."""
        rounds = self.step // self.config.train_every
        goal = (rounds + 1) * self.config.train_every
        until = min(goal, self.base.steps) if self.step < self.base.steps else goal
        while self.step < until:
            self.interact()
        if self.step > self.config.learning_starts and self.replay.size:
            # Many environments pass several rounds at once.
            for _ in range(self.step // self.config.train_every - rounds):
                self.learn(self.config.updates_per_round)
        self.metrics["epsilon"] = self.epsilon()

    def epsilon(self) -> float:
        config = self.config
        return linear(config.epsilon_start, config.epsilon_end, self.progress(), config.epsilon_fraction)

    def interact(self) -> None:
        obs = self.envs.obs
        explore = 1.0 if self.step < self.config.learning_starts else self.epsilon()
        random = self.rng.random(len(obs)) < explore
        count = np.count_nonzero(random)
        action = np.zeros(len(obs), np.int64) if count == len(obs) else self.choose(obs, self.q)
        if count:
            action[random] = self.rng.integers(self.actions.size, size=count)
        step = self.envs.step(self.actions.to_env(action))
        self.replay.add(obs, action, step)
        before, self.step = self.step, self.step + step.taken()
        for _ in range(self.step // self.config.target_every - before // self.config.target_every):
            self.update_target()

    def update_target(self) -> None:
        """θ⁻ ← θ, or a part of the way. A second copy of weights that no update has moved would change nothing."""
        if self.config.target_rate < 1 or self.copied_at != self.updates:
            self.target.track(self.config.target_rate)
            self.copied_at = self.updates

    def learn(self, updates: int) -> None:
        """The target network rests meanwhile, so that y of many batches is computed in one go."""
        size = self.config.batch_size
        # Double DQN asks the online network too, and that moves with every update.
        together = 1 if self.config.double else TOGETHER
        for done in range(0, updates, together):
            drawn = self.replay.sample(size * min(together, updates - done), self.rng, self.device)
            # As columns, as `gather` wants its index: made once for many batches.
            fields = (drawn.obs, drawn.action.unsqueeze(1), self.target_value(drawn).unsqueeze(1))
            for obs, action, y in zip(*(torch.split(field, size) for field in fields), strict=True):
                self.update(obs, action, y)
        self.average.track(1 / (1 + self.config.averaging * (self.updates / updates - 1)))

    def update(self, obs: Tensor, action: Tensor, y: Tensor) -> None:
        """One step on ½ (y − Q(s, a))², or on Huber's loss of it; `action` and `y` are columns [B, 1]."""
        self.optimizer.zero_grad()  # first: the memory of the old gradients serves the new values
        q = self.q(obs).gather(1, action)
        huber = self.config.loss == "huber"
        loss = functional.huber_loss(q, y) if huber else 0.5 * functional.mse_loss(q, y)
        self.check_contract("td", loss)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.parameters, self.config.max_grad_norm, foreach=True)
        self.optimizer.step()
        self.updates += 1

    @torch.no_grad()
    def target_value(self, batch: Batch) -> Tensor:
        """y = r where the episode terminated, else r + γ max Q⁻(s', ·); double DQN: r + γ Q⁻(s', argmax Q(s', ·))."""
        next_q = self.target.network(batch.next_obs)
        if self.config.double:
            best = self.q(batch.next_obs).argmax(dim=1, keepdim=True)
            next_value = next_q.gather(1, best).squeeze(1)
        else:
            next_value = next_q.amax(dim=1)
        return torch.where(batch.terminated, batch.reward, batch.reward + batch.discount * next_value)

    @torch.no_grad()
    def choose(self, obs: NDArray[Any], network: nn.Module) -> NDArray[np.int64]:
        best: NDArray[np.int64] = network(self.tensor(obs)).cpu().numpy().argmax(axis=1)
        return best

    def act(self, obs: NDArray[Any]) -> NDArray[Any]:
        return self.actions.to_env(self.choose(obs, self.average.network))

    def parts(self) -> Mapping[str, Stateful]:
        return {
            "q": self.q,
            "target": self.target.network,
            "average": self.average.network,
            "optimizer": self.optimizer,
            "replay": self.replay,
        }
