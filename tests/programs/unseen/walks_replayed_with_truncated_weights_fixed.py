"""IMPALA with a memory: unrolls of a walker on a slippery ridge are kept with the log-probabilities that they were
made with, and the learner replays some old ones beside the newest, corrected by V-trace.

Round 31
Class: stays alive
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

LENGTH, UNROLL, GAMMA, RHO_BAR, C_BAR = 9, 16, 0.97, 1.0, 1.0


class Ridge:
    """Walk from the middle to the right end; the left end is a fall. The wind moves the walker now and then."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.place = LENGTH // 2
        return self.observe()

    def observe(self):
        seen = np.zeros(LENGTH, dtype=np.float32)
        seen[self.place] = 1.0
        return torch.from_numpy(seen)

    def step(self, action):
        move = (-1, 0, 1)[action] if self.rng.random() > 0.2 else self.rng.choice([-1, 1])
        self.place += move
        terminated = self.place in (0, LENGTH - 1)
        reward = {0: -1.0, LENGTH - 1: 1.0}.get(self.place, -0.02)
        return self.observe(), reward, terminated


@dataclass
class Unroll:
    obs: list = field(default_factory=list)
    actions: list = field(default_factory=list)
    log_probs: list = field(default_factory=list)
    rewards: list = field(default_factory=list)
    discounts: list = field(default_factory=list)


class Net(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(LENGTH, hidden), nn.ReLU())
        self.policy, self.value = nn.Linear(hidden, 3), nn.Linear(hidden, 1)

    def forward(self, obs):
        features = self.body(obs)
        return Categorical(logits=self.policy(features)), self.value(features).squeeze(-1)


class Actor:
    def __init__(self, net, env):
        self.net, self.env = net, env
        self.obs = env.reset()
        self.outcomes = deque(maxlen=50)

    def unroll(self):
        data = Unroll()
        for _ in range(UNROLL):
            dist, _ = self.net(self.obs)
            action = dist.sample()
            next_obs, reward, terminated = self.env.step(action.item())
            data.obs.append(self.obs)
            data.actions.append(action)
            data.log_probs.append(dist.log_prob(action).detach())
            data.rewards.append(reward)
            data.discounts.append(0.0 if terminated else GAMMA)
            if terminated:
                self.outcomes.append(reward)
            self.obs = self.env.reset() if terminated else next_obs
        data.obs.append(self.obs)
        return data


def vtrace(values, rewards, discounts, rhos):
    clipped, traced = rhos.clamp(max=RHO_BAR), rhos.clamp(max=C_BAR)
    deltas = clipped * (rewards + discounts * values[1:] - values[:-1])
    corrections, running = torch.zeros_like(deltas), torch.tensor(0.0)
    for t in reversed(range(len(deltas))):
        running = deltas[t] + discounts[t] * traced[t] * running
        corrections[t] = running
    targets = values[:-1] + corrections
    after = torch.cat([targets[1:], values[-1:]])
    return targets, clipped * (rewards + discounts * after - values[:-1])


def learner_loss(net, data):
    dist, values = net(torch.stack(data.obs))
    actions = torch.stack(data.actions)
    dist = Categorical(logits=dist.logits[:-1])
    log_probs = dist.log_prob(actions)
    behaviour = torch.stack(data.log_probs).detach()
    rewards, discounts = torch.tensor(data.rewards), torch.tensor(data.discounts)
    with torch.no_grad():
        targets, advantages = vtrace(values, rewards, discounts, (log_probs - behaviour).exp())
    policy_loss = -(log_probs * advantages).mean()
    value_loss = (values[:-1] - targets).pow(2).mean()
    return policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()


torch.manual_seed(3110)
rng = np.random.default_rng(3110)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
actor, replay = Actor(net, Ridge(rng)), deque(maxlen=60)
for update in range(100):
    replay.append(actor.unroll())
    batch = [replay[-1]] + [replay[i] for i in rng.integers(len(replay), size=3)]
    loss = torch.stack([learner_loss(net, data) for data in batch]).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 40.0)
    optimizer.step()
    if update % 25 == 0:
        arrived = np.mean(np.array(actor.outcomes) > 0) if actor.outcomes else 0.0
        print(f"update {update}: loss {loss.item():.3f}, arrived {arrived:.2f}")
