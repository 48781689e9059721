"""PPO of many seeds as one batched update. Each seed's own `ppo.PPO` holds its weights, as views of the stack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from gradsan.rl.agent import set_learning_rate
from gradsan.rl.envs import Envs
from gradsan.rl.ppo import PPO
from gradsan.rl.rollout import Rollout
from gradsan.rl.stacked import clip_each_norm_
from gradsan.rl.stacked_policies import StackedActorCritic

Array = NDArray[Any]


class SeedSamples(NamedTuple):
    """A rollout of every seed: fields [S, B, …]. `weight` is 0 for steps that were spent on a reset, and sums to 1 for
    each seed, so that a weighted sum is the mean over its valid steps."""

    obs: Tensor
    action: Tensor
    value: Tensor
    advantage: Tensor
    returns: Tensor
    weight: Tensor

    def at(self, index: Tensor) -> SeedSamples:
        """For each seed the samples of its row of `index` [S, B']."""
        rows = torch.arange(len(index)).unsqueeze(1)
        chosen = SeedSamples(*(field[rows, index] for field in self))
        total = chosen.weight.sum(dim=1, keepdim=True)
        return chosen._replace(weight=chosen.weight / total.clamp(min=1e-12))


class SeedsPPO:
    """`agents` differ in their seed alone; `envs` holds the copies of all of them, those of the first seed first."""

    def __init__(self, agents: Sequence[PPO], envs: Envs) -> None:
        self.agents, self.envs = agents, envs
        self.config, self.seeds = agents[0].config, len(agents)
        self.networks = StackedActorCritic([agent.networks for agent in agents])
        self.average = StackedActorCritic([agent.average.network for agent in agents]).requires_grad_(False)
        self.parameters = list(self.networks.parameters())
        self.optimizer = torch.optim.Adam(self.parameters, lr=self.config.learning_rate, eps=1e-5, fused=True)
        chance = np.random.SeedSequence([agent.base.seed for agent in agents])
        self.rng = np.random.default_rng(chance)
        envs.reset(seed=int(chance.generate_state(1)[0]))
        example = agents[0].networks.policy(agents[0].tensor(envs.obs[:1])).greedy()[0]
        self.rollout = Rollout(self.config.rollout, envs.num_envs, agents[0].observations, example)
        self.updates = 0

    @property
    def step(self) -> int:
        """Of the seed that has taken the fewest: steps that are spent on resets do not count."""
        return min(agent.step for agent in self.agents)

    def advance(self) -> None:
        for _ in range(self.config.rollout):
            obs = self.envs.obs
            action = self.networks.policy(self.by_seed(obs)).in_a_row().sample(self.rng)
            known = len(self.envs.finished)
            step = self.envs.step(self.agents[0].actions.to_env(action))
            self.rollout.add(obs, action, step, following=self.envs.obs)
            self.share_out(np.flatnonzero(step.terminated | step.truncated), self.envs.finished[known:])
        self.envs.finished.clear()
        for agent, valid in zip(self.agents, self.per_seed(self.rollout.valid), strict=True):
            agent.step += int(np.count_nonzero(valid))
        self.update(self.samples())

    def share_out(self, ended: Array, episodes: list[tuple[float, int]]) -> None:
        """Episodes that have ended, to the agents whose they are."""
        for env, episode in zip(ended, episodes, strict=True):
            self.agents[env // self.config.num_envs].envs.finished.append(episode)

    def samples(self) -> SeedSamples:
        fields = self.rollout.fields(self.value, self.config.gamma, self.config.trace)
        obs, action, value, advantage, returns = (torch.from_numpy(self.per_seed(field)) for field in fields)
        valid = torch.from_numpy(self.per_seed(self.rollout.valid)).float()
        weight = valid / valid.sum(dim=1, keepdim=True).clamp(min=1)
        return SeedSamples(obs, action, value, advantage, returns, weight)

    def update(self, samples: SeedSamples) -> None:
        config = self.config
        left = max(0.0, 1 - self.step / config.steps) if config.anneal else 1.0
        set_learning_rate(self.optimizer, config.learning_rate * left)
        old = self.networks.policy(samples.obs)
        entropy = (samples.weight * old.entropy()).sum(dim=1)
        old_log_prob = old.log_prob(samples.action)
        losses = entropy
        for batch, old_batch in self.minibatches(samples, old_log_prob):
            losses = self.losses(batch, old_batch, epsilon=config.clip * left)
            self.optimizer.zero_grad()
            losses.sum().backward()  # type: ignore[no-untyped-call]
            clip_each_norm_(self.parameters, config.max_grad_norm)
            self.optimizer.step()
        self.track(1 / (1 + config.averaging * self.updates))
        self.updates += 1
        for agent, own_entropy, loss in zip(self.agents, entropy, losses.detach(), strict=True):
            agent.updates = self.updates
            agent.metrics = {"entropy": own_entropy, "ppo_loss": loss}

    def minibatches(self, samples: SeedSamples, old_log_prob: Tensor) -> Iterator[tuple[SeedSamples, Tensor]]:
        """As `PPO.minibatches`, with an order of its own for each seed."""
        size, scaled = old_log_prob.shape[1], scale_advantages(samples)
        if size <= self.config.batch_size:
            yield from [(scaled, old_log_prob)] * self.config.epochs
            return
        for _ in range(self.config.epochs):
            order = torch.from_numpy(self.rng.permuted(np.tile(np.arange(size), (self.seeds, 1)), axis=1))
            for chosen in torch.tensor_split(order, size // self.config.batch_size, dim=1):
                yield scaled.at(chosen), old_log_prob.gather(1, chosen)

    def losses(self, batch: SeedSamples, old_log_prob: Tensor, epsilon: float) -> Tensor:
        """`PPO.loss` of every seed [S]."""
        config, weight = self.config, batch.weight
        policy, value = self.networks(batch.obs)
        ratio = torch.exp(policy.log_prob(batch.action) - old_log_prob)
        advantage = batch.advantage
        surrogate = torch.min(ratio * advantage, torch.clamp(ratio, 1 - epsilon, 1 + epsilon) * advantage)
        error = functional.mse_loss(value, batch.returns, reduction="none")
        if config.value_clip is not None:
            clip = config.value_clip
            clipped = batch.value + torch.clamp(value - batch.value, -clip, clip)
            error = torch.max(error, (clipped - batch.returns) ** 2)
        gain = torch.sub(surrogate, error, alpha=config.value_weight)
        if config.entropy_bonus:
            gain = gain + config.entropy_bonus * policy.entropy()
        loss: Tensor = -(weight * gain).sum(dim=1)
        return loss

    @torch.no_grad()
    def track(self, rate: float) -> None:
        own: list[Tensor] = list(self.average.parameters())
        torch._foreach_lerp_(own, list[Tensor](self.parameters), rate)

    def act(self, obs: Array) -> Array:
        """Greedy actions for observations [S, B, …], each seed with the running mean of its own weights."""
        seen = torch.from_numpy(obs.astype(np.float32, copy=False))
        actions = self.agents[0].actions.to_env(self.average.policy(seen).in_a_row().greedy())
        return actions.reshape(*obs.shape[:2], *actions.shape[1:])

    def by_seed(self, obs: Array) -> Tensor:
        """[S × N, …] to [S, N, …]"""
        return torch.from_numpy(obs.astype(np.float32, copy=False)).view(self.seeds, -1, *obs.shape[1:])

    def per_seed(self, field: Array) -> Array:
        """[T, S × N, …] to [S, T × N, …]"""
        apart = field.reshape(len(field), self.seeds, -1, *field.shape[2:]).swapaxes(0, 1)
        return np.ascontiguousarray(apart).reshape(self.seeds, -1, *field.shape[2:])

    def value(self, obs: Array) -> NDArray[np.float32]:
        """Of observations [T, S × N, …]."""
        found = self.networks.value(torch.from_numpy(self.per_seed(obs))).numpy()
        apart: NDArray[np.float32] = found.reshape(self.seeds, len(obs), -1).swapaxes(0, 1)
        return apart.reshape(obs.shape[:2])

    def hand_over(self) -> None:
        """The optimizer's state to the optimizers of the agents, for a checkpoint."""
        stacks = {stack.untyped_storage().data_ptr(): stack for stack in self.parameters}
        for agent in self.agents:
            for parameter in agent.parameters:
                state = self.optimizer.state[stacks[parameter.untyped_storage().data_ptr()]]
                # Where the parameter lies in its stack, its state lies in the stack's.
                place = parameter.shape, parameter.stride(), parameter.storage_offset()
                agent.optimizer.state[parameter] = {
                    name: value.clone() if value.dim() == 0 else value.as_strided(*place).clone()
                    for name, value in state.items()
                }
            set_learning_rate(agent.optimizer, self.optimizer.param_groups[0]["lr"])


def scale_advantages(samples: SeedSamples) -> SeedSamples:
    """As `ppo.scale_advantage`, for each seed over its own valid steps."""
    weight, advantage = samples.weight, samples.advantage
    count = torch.count_nonzero(weight, dim=1).unsqueeze(1)
    mean = (weight * advantage).sum(dim=1, keepdim=True)
    variance = (weight * (advantage - mean) ** 2).sum(dim=1, keepdim=True) * count / (count - 1).clamp(min=1)
    return samples._replace(advantage=(advantage - mean) / (variance.sqrt() + 1e-8))
