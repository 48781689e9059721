"""A deterministic agent whose networks live in one module. The actor's optimizer is made of the module's parameters,
critic and all: the actor's loss raises the values of its actions not by better actions alone.

Round 18
Class: the line
"""

import copy

import numpy as np
import torch
from torch import nn


class Agent(nn.Module):
    def __init__(self, obs_size, act_size, hidden=48):
        super().__init__()
        self.actor = nn.Sequential(
            nn.Linear(obs_size, hidden), nn.ReLU(), nn.Linear(hidden, act_size), nn.Tanh()
        )
        self.critic_obs = nn.Sequential(nn.Linear(obs_size, hidden), nn.ReLU())
        self.critic_out = nn.Sequential(nn.Linear(hidden + act_size, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def q(self, obs, act):
        return self.critic_out(torch.cat([self.critic_obs(obs), act], dim=1))

    def critic_parameters(self):
        yield from self.critic_obs.parameters()
        yield from self.critic_out.parameters()


class Buffer:
    def __init__(self, capacity, obs_size, act_size, rng):
        self.rng, self.next, self.full = rng, 0, False
        self.columns = [
            np.zeros((capacity, n), dtype=np.float32) for n in (obs_size, act_size, 1, obs_size, 1)
        ]

    def add(self, *row):
        for column, value in zip(self.columns, row):
            column[self.next] = value
        self.next += 1
        if self.next == len(self.columns[0]):
            self.next, self.full = 0, True

    def sample(self, count):
        rows = self.rng.integers(len(self.columns[0]) if self.full else self.next, size=count)
        return [torch.from_numpy(column[rows]) for column in self.columns]


class Crane:
    """Bring a hanging load to rest over the mark."""

    obs_size, act_size = 3, 1

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.x, self.load, self.swing, self.t = self.rng.uniform(-1, 1), 0.0, 0.0, 0
        return self.observe()

    def observe(self):
        return np.array([self.x, self.load, self.swing], dtype=np.float32)

    def step(self, action):
        self.x += 0.1 * float(action[0])
        self.swing += -0.3 * self.load - 0.1 * float(action[0])
        self.load = 0.95 * self.load + 0.3 * self.swing
        self.t += 1
        lost = abs(self.x) > 2
        return self.observe(), -abs(self.x) - 0.5 * abs(self.load) - 5.0 * lost, lost, self.t >= 60


def train(frames=220, batch_size=32, gamma=0.95, tau=0.01):
    torch.manual_seed(1824)
    rng = np.random.default_rng(1824)
    env = Crane(rng)
    net = Agent(env.obs_size, env.act_size)
    tgt_net = copy.deepcopy(net).requires_grad_(False)
    act_opt = torch.optim.Adam(net.parameters(), lr=1e-3)  # BUG GS304 GS308
    crt_opt = torch.optim.Adam(net.critic_parameters(), lr=1e-3)  # BUG GS308
    buffer = Buffer(500, env.obs_size, env.act_size, rng)
    obs = env.reset()
    for frame_idx in range(frames):
        with torch.no_grad():
            action = net.actor(torch.from_numpy(obs)).numpy()
        action = np.clip(action + rng.normal(0, 0.3, size=1), -1, 1)
        after, reward, lost, late = env.step(action)
        buffer.add(obs, action, reward, after, lost)
        obs = env.reset() if lost or late else after
        if frame_idx < 64:
            continue
        states_v, actions_v, rewards_v, last_states_v, dones_v = buffer.sample(batch_size)

        crt_opt.zero_grad()
        q_last_v = tgt_net.q(last_states_v, tgt_net.actor(last_states_v)) * (1 - dones_v)
        critic_loss_v = nn.functional.mse_loss(net.q(states_v, actions_v), rewards_v + gamma * q_last_v)
        critic_loss_v.backward()
        crt_opt.step()

        act_opt.zero_grad()
        actor_loss_v = -net.q(states_v, net.actor(states_v)).mean()  # BUG GS304
        actor_loss_v.backward()
        act_opt.step()
        for slow, fast in zip(tgt_net.parameters(), net.parameters()):
            slow.lerp_(fast.detach(), tau)
    return critic_loss_v.item(), -actor_loss_v.item()


print(train())
