"""A context manager holds the critic out of the actor's graph by putting detached tensors in the place of its parameters;
on leaving it wraps them into new parameters, which the critic's optimizer does not know.

Round 15
Class: weights
"""

import copy

import numpy as np
import torch
from torch import nn

torch.manual_seed(1510)
rng = np.random.default_rng(1510)


class HoldOut:
    """Holds a network out of the graph while the block runs."""

    def __init__(self, network):
        self.network = network

    def replace(self, requires_grad):
        for module in self.network.modules():
            for name, parameter in list(module.named_parameters(recurse=False)):
                setattr(module, name, nn.Parameter(parameter.detach(), requires_grad))  # BUG GS206 GS205

    def __enter__(self):
        self.replace(requires_grad=False)

    def __exit__(self, *exception):
        self.replace(requires_grad=True)  # BUG GS206 GS205


class ReplayBuffer:
    def __init__(self, capacity, obs_dim, act_dim):
        self.obs, self.after = np.zeros((2, capacity, obs_dim), dtype=np.float32)
        self.action = np.zeros((capacity, act_dim), dtype=np.float32)
        self.reward, self.going_on = np.zeros((2, capacity), dtype=np.float32)
        self.size, self.capacity = 0, capacity

    def add(self, obs, action, reward, after, terminated):
        at = self.size % self.capacity
        self.obs[at], self.action[at], self.after[at] = obs, action, after
        self.reward[at], self.going_on[at] = reward, 1.0 - terminated
        self.size += 1

    def sample(self, count):
        index = rng.integers(0, min(self.size, self.capacity), count)
        columns = (self.obs, self.action, self.reward, self.after, self.going_on)
        return [torch.from_numpy(column[index]) for column in columns]


class Cart:
    """A cart that should come to rest at the origin; falling off the track ends the episode."""

    def reset(self):
        self.state = rng.normal(0, 0.5, 2).astype(np.float32)
        return self.state

    def step(self, action):
        place, speed = self.state
        speed = 0.9 * speed + 0.3 * float(action[0])
        self.state = np.array([place + 0.2 * speed, speed], dtype=np.float32)
        return self.state, -abs(float(self.state[0])), bool(abs(self.state[0]) > 2)


class DDPG:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
        self.slow_actor = copy.deepcopy(self.actor).requires_grad_(False)
        self.slow_critic = copy.deepcopy(self.critic).requires_grad_(False)
        self.actor_optim = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=2e-3)  # BUG GS205 GS206

    def explore(self, obs):
        with torch.no_grad():
            action = self.actor(torch.from_numpy(obs)).numpy()
        return np.clip(action + rng.normal(0, 0.3, 1), -1, 1)

    def value_step(self, obs, action, reward, after, going_on):
        with torch.no_grad():
            pair = torch.cat([after, self.slow_actor(after)], 1)
            goal = reward + 0.97 * going_on * self.slow_critic(pair).squeeze(1)
        loss = (self.critic(torch.cat([obs, action], 1)).squeeze(1) - goal).pow(2).mean()
        self.critic_optim.zero_grad()
        loss.backward()
        self.critic_optim.step()
        return loss.item()

    def policy_step(self, obs):
        with HoldOut(self.critic):
            loss = -self.critic(torch.cat([obs, self.actor(obs)], 1)).mean()
            self.actor_optim.zero_grad()
            loss.backward()
        self.actor_optim.step()
        return loss.item()

    @torch.no_grad()
    def follow(self, tau=0.02):
        for slow_net, net in ((self.slow_actor, self.actor), (self.slow_critic, self.critic)):
            for slow, fast in zip(slow_net.parameters(), net.parameters()):
                slow.mul_(1 - tau).add_(fast, alpha=tau)


env, agent, buffer = Cart(), DDPG(), ReplayBuffer(500, 2, 1)
obs = env.reset()
for step in range(160):
    action = agent.explore(obs)
    after, reward, terminated = env.step(action)
    buffer.add(obs, action, reward, after, terminated)
    obs = env.reset() if terminated else after
    if step >= 60:
        batch = buffer.sample(24)
        value_loss = agent.value_step(*batch)
        if step % 2 == 0:
            policy_loss = agent.policy_step(batch[0])
        agent.follow()
        if step % 25 == 0:
            print(step, value_loss, policy_loss)
