"""The repaired twin of a program in which the following goes wrong.
Recurrent PPO on a game of remembering a signal: while acting, the memory is cleared by the flag of the step
before; in the update the flag after the step is given to the network, so the replayed memory is cleared one
step early and the ratio is not one to begin with. After LARG/jax-aht#115.

Round 37
Class: meaning
"""

from typing import NamedTuple

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

NUM_ENVS, NUM_STEPS, EPOCHS, UPDATES = 12, 20, 3, 20
GAMMA, LAM, CLIP, LR, SEED = 0.99, 0.95, 0.2, 3e-3, 3712


class Recall:
    """A signal is shown once; after some blank steps the agent must name it."""

    def __init__(self, n, seed):
        self.n, self.rng = n, np.random.default_rng(seed)

    def reset(self):
        self.length = np.zeros(self.n, dtype=int)
        self.t = np.zeros(self.n, dtype=int)
        self.signal = np.zeros(self.n, dtype=int)
        self._begin(np.ones(self.n, dtype=bool))
        return self._obs()

    def _begin(self, who):
        self.t[who] = 0
        self.length[who] = self.rng.integers(3, 6, who.sum())
        self.signal[who] = self.rng.integers(0, 3, who.sum())

    def _obs(self):
        obs = np.zeros((self.n, 5), dtype=np.float32)
        first = self.t == 0
        obs[first, self.signal[first]] = 1.0
        obs[:, 3] = self.t == self.length - 1
        obs[:, 4] = self.t / 5
        return torch.from_numpy(obs)

    def step(self, action):
        asked = self.t == self.length - 1
        reward = np.where(asked, (action == self.signal).astype(np.float32), 0.0)
        self.t += 1
        self._begin(asked)
        return self._obs(), torch.from_numpy(reward.astype(np.float32)), torch.from_numpy(asked).float()


class ScannedGRU(nn.Module):
    """The carry is cleared before an input is read wherever the flag is set."""

    def __init__(self, dim=32):
        super().__init__()
        self.dim = dim
        self.embed, self.cell = nn.Linear(5, dim), nn.GRUCell(dim, dim)
        self.actor, self.critic = nn.Linear(dim, 3), nn.Linear(dim, 1)

    def step(self, carry, obs, reset):
        carry = self.cell(torch.tanh(self.embed(obs)), carry * (1.0 - reset).unsqueeze(1))
        return carry, Categorical(logits=self.actor(carry)), self.critic(carry).squeeze(-1)

    def unroll(self, carry, obs, resets):
        logits, values = [], []
        for x, reset in zip(obs, resets):
            carry, dist, value = self.step(carry, x, reset)
            logits.append(dist.logits)
            values.append(value)
        return Categorical(logits=torch.stack(logits)), torch.stack(values)


class Transition(NamedTuple):
    prev_done: torch.Tensor
    done: torch.Tensor
    action: torch.Tensor
    value: torch.Tensor
    reward: torch.Tensor
    log_prob: torch.Tensor
    obs: torch.Tensor


def calculate_gae(traj, last_value):
    gae, following, advantages = torch.zeros(NUM_ENVS), last_value, []
    for t in reversed(range(NUM_STEPS)):
        alive = 1.0 - traj.done[t]
        delta = traj.reward[t] + GAMMA * following * alive - traj.value[t]
        gae = delta + GAMMA * LAM * alive * gae
        advantages.insert(0, gae)
        following = traj.value[t]
    advantages = torch.stack(advantages)
    return advantages, advantages + traj.value


torch.manual_seed(SEED)
network = ScannedGRU()
optimizer = torch.optim.Adam(network.parameters(), lr=LR, eps=1e-5)
env = Recall(NUM_ENVS, SEED)
last_obs, last_done = env.reset(), torch.zeros(NUM_ENVS)
hidden = torch.zeros(NUM_ENVS, network.dim)
for update in range(UPDATES):
    initial_hidden, steps = hidden, []
    with torch.no_grad():
        for _ in range(NUM_STEPS):
            hidden, pi, value = network.step(hidden, last_obs, last_done)
            action = pi.sample()
            obs, reward, done = env.step(action.numpy())
            steps.append(Transition(last_done, done, action, value, reward, pi.log_prob(action), last_obs))
            last_obs, last_done = obs, done
        _, _, last_value = network.step(hidden, last_obs, last_done)
    traj = Transition(*(torch.stack(column) for column in zip(*steps)))
    advantages, targets = calculate_gae(traj, last_value)
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    for _ in range(EPOCHS):
        for columns in torch.randperm(NUM_ENVS).chunk(2):
            resets = traj.prev_done[:, columns]
            pi, value = network.unroll(initial_hidden[columns], traj.obs[:, columns], resets)
            ratio = torch.exp(pi.log_prob(traj.action[:, columns]) - traj.log_prob[:, columns])
            adv = advantages[:, columns]
            loss_actor = -torch.min(ratio * adv, ratio.clamp(1 - CLIP, 1 + CLIP) * adv).mean()
            value_loss = 0.5 * (value - targets[:, columns]).pow(2).mean()
            loss = loss_actor + 0.5 * value_loss - 0.01 * pi.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimizer.step()
print("reward per step", round(traj.reward.mean().item(), 3))
