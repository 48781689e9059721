"""Recurrent independent PPO: while acting the memory is emptied at the first step of an episode, while learning it is
emptied by the flag of the step itself, one step early, so the same actions are scored from another memory.
Repaired here.

Round 24
Class: meaning
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

ENVS, AGENTS, STEPS, HIDDEN, ACTIONS = 6, 2, 20, 24, 3


class Transition(NamedTuple):
    obs: Tensor
    first: Tensor  # did an episode begin here
    done: Tensor  # did it end with this step
    action: Tensor
    log_prob: Tensor
    value: Tensor
    reward: Tensor


class CueVec:
    """A cue is shown at the beginning, and both agents should say it at the end (after five steps)."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.cue, self.clock = self.rng.integers(0, ACTIONS, ENVS), self.rng.integers(0, 5, ENVS)

    def observe(self):
        shown = np.eye(ACTIONS)[self.cue] * (self.clock == 0)[:, None]
        seen = np.concatenate([shown, self.clock[:, None] / 5], axis=1)
        obs = np.repeat(seen[:, None], AGENTS, axis=1)
        return torch.tensor(obs, dtype=torch.float32)

    def step(self, actions):
        right = (actions.numpy() == self.cue[:, None]).astype(np.float32)
        reward = right * np.where(self.clock == 4, 1.0, 0.1)[:, None]
        self.clock = self.clock + 1
        done = self.clock == 5
        self.clock[done] = 0
        self.cue[done] = self.rng.integers(0, ACTIONS, int(done.sum()))
        return torch.tensor(reward, dtype=torch.float32), torch.tensor(done, dtype=torch.float32)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(ACTIONS + 1, HIDDEN)
        self.actor, self.critic = nn.Linear(HIDDEN, ACTIONS), nn.Linear(HIDDEN, 1)

    def forward(self, hidden, obs, reset):
        hidden = hidden * (1 - reset).view(ENVS, 1, 1)
        hidden = self.cell(obs.flatten(0, 1), hidden.flatten(0, 1)).view(ENVS, AGENTS, HIDDEN)
        return hidden, Categorical(logits=self.actor(hidden)), self.critic(hidden).squeeze(-1)


@torch.no_grad()
def rollout(env, net, hidden, first):
    trajectory = []
    for _ in range(STEPS):
        obs = env.observe()
        hidden, dist, value = net(hidden, obs, first)
        action = dist.sample()
        reward, done = env.step(action)
        log_prob = dist.log_prob(action)
        trajectory.append(Transition(obs, first, done, action, log_prob, value, reward))
        first = done
    _, _, last_value = net(hidden, env.observe(), first)
    return Transition(*(torch.stack(column) for column in zip(*trajectory))), hidden, first, last_value


def calculate_gae(traj, last_value, gamma=0.97, lam=0.9):
    advantages, gae, next_value = [], torch.zeros_like(last_value), last_value
    for t in reversed(range(STEPS)):
        going = (1 - traj.done[t]).unsqueeze(1)
        delta = traj.reward[t] + gamma * going * next_value - traj.value[t]
        gae = delta + gamma * lam * going * gae
        advantages.insert(0, gae)
        next_value = traj.value[t]
    return torch.stack(advantages)


def evaluate(net, hidden, traj):
    log_probs, values, entropies = [], [], []
    for t in range(STEPS):
        hidden, dist, value = net(hidden, traj.obs[t], traj.first[t])
        log_probs.append(dist.log_prob(traj.action[t]))
        values.append(value)
        entropies.append(dist.entropy())
    return torch.stack(log_probs), torch.stack(values), torch.stack(entropies).mean()


torch.manual_seed(2417)
env, net = CueVec(17), ActorCritic()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
hidden, first = torch.zeros(ENVS, AGENTS, HIDDEN), torch.ones(ENVS)
for update in range(25):
    start = hidden
    traj, hidden, first, last_value = rollout(env, net, hidden, first)
    advantages = calculate_gae(traj, last_value)
    targets = advantages + traj.value
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    for epoch in range(2):
        log_probs, values, entropy = evaluate(net, start, traj)
        ratio = torch.exp(log_probs - traj.log_prob)
        actor_loss = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
        loss = actor_loss + 0.5 * (values - targets).pow(2).mean() - 0.01 * entropy
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
print("mean reward", round(traj.reward.mean().item(), 3))
