"""The target of a soft critic masks the next value, entropy and all, where the episode ended.

Round 16
Class: meaning
"""

import copy

import numpy as np
import torch
from torch import nn

torch.manual_seed(1602)
rng = np.random.default_rng(1602)
STATE, ACTION, BATCH = 3, 2, 48


class Corridor:
    """A walker in a corridor: it ends at the far door, or in the pit beside it."""

    def reset(self):
        self.place = rng.normal(0.0, 0.3, STATE).astype(np.float32)
        return self.place.copy()

    def step(self, action):
        self.place[:ACTION] += 0.4 * action
        self.place[-1] = 0.9 * self.place[-1] + 0.1 * action.sum()
        at_door, in_pit = self.place[0] > 1.5, abs(self.place[1]) > 1.5
        reward = 5.0 * at_door - 2.0 * in_pit - 0.1
        return self.place.copy(), float(reward), bool(at_door or in_pit), {}


class ReplayBuffer:
    def __init__(self, size, gamma):
        self.rows = np.zeros((size, 2 * STATE + ACTION + 2), dtype=np.float32)
        self.size, self.now, self.gamma = size, 0, gamma

    def append(self, state, action, reward, done, after):
        mask = 0.0 if done else self.gamma
        self.rows[self.now % self.size] = np.hstack([reward, mask, state, action, after])
        self.now += 1

    def sample(self, batch):
        rows = torch.from_numpy(self.rows[rng.integers(min(self.now, self.size), size=batch)])
        return rows.split([1, 1, STATE, ACTION, STATE], dim=1)


class Actor(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(STATE, width), nn.ReLU())
        self.mean, self.log_std = nn.Linear(width, ACTION), nn.Linear(width, ACTION)

    def action_and_log_prob(self, state):
        hidden = self.net(state)
        normal = torch.distributions.Normal(self.mean(hidden), self.log_std(hidden).clamp(-5, 1).exp())
        raw = normal.rsample()
        action = raw.tanh()
        log_prob = normal.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)
        return action, log_prob.sum(1, keepdim=True)


class TwinCritic(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(STATE + ACTION, width), nn.ReLU())
        self.first, self.second = nn.Linear(width, 1), nn.Linear(width, 1)

    def forward(self, state, action):
        hidden = self.net(torch.cat([state, action], 1))
        return self.first(hidden), self.second(hidden)


class AgentSAC:
    def __init__(self, alpha=0.2):
        self.act, self.cri = Actor(), TwinCritic()
        self.cri_target = copy.deepcopy(self.cri).requires_grad_(False)
        self.act_optimizer = torch.optim.Adam(self.act.parameters(), lr=1e-3)
        self.cri_optimizer = torch.optim.Adam(self.cri.parameters(), lr=1e-3)
        self.alpha = alpha

    def explore(self, state):
        with torch.no_grad():
            action, _ = self.act.action_and_log_prob(torch.from_numpy(state)[None])
        return action[0].numpy()

    def update(self, buffer):
        reward, mask, state, action, after = buffer.sample(BATCH)
        with torch.no_grad():
            next_action, next_log_prob = self.act.action_and_log_prob(after)
            next_q = torch.min(*self.cri_target(after, next_action))
            label = reward + mask * (next_q - self.alpha * next_log_prob)
        critic_loss = sum((q - label).pow(2).mean() for q in self.cri(state, action))
        self.step(self.cri_optimizer, critic_loss)

        chosen, log_prob = self.act.action_and_log_prob(state)
        actor_loss = (self.alpha * log_prob - torch.min(*self.cri(state, chosen))).mean()
        self.step(self.act_optimizer, actor_loss)
        with torch.no_grad():
            for slow, fast in zip(self.cri_target.parameters(), self.cri.parameters()):
                slow.lerp_(fast, 0.01)
        return critic_loss.item(), actor_loss.item()

    @staticmethod
    def step(optimizer, loss):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


env, agent, buffer = Corridor(), AgentSAC(), ReplayBuffer(2000, gamma=0.98)
state = env.reset()
for frame in range(360):
    action = agent.explore(state)
    after, reward, done, _ = env.step(action)
    buffer.append(state, action, reward, done, after)
    state = env.reset() if done else after
    if frame >= 100 and frame % 3 == 0:
        losses = agent.update(buffer)
        if frame % 60 == 0:
            print(frame, losses)
