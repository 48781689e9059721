"""An actor-critic explores a dark grid for a bonus: the error of a network that imitates a fixed random
one, divided by the running deviation of that error. The running moments are fed with live errors, so they
chain the graphs of all batches together and none is ever freed.

Round 32
Class: stays alive
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(12)
SIZE, LIMIT, ROLLOUT, UPDATES = 6, 24, 96, 80
MOVES = [(0, 1), (1, 0), (0, -1), (-1, 0)]


class DarkGrid:
    """Find the far corner. The lamp burns for LIMIT moves, the observation tells how many are left."""

    def reset(self):
        self.pos, self.left = (0, 0), LIMIT
        return self.obs()

    def obs(self):
        return torch.tensor([self.pos[0] / SIZE, self.pos[1] / SIZE, self.left / LIMIT])

    def step(self, a):
        self.pos = tuple(int(np.clip(p + d, 0, SIZE - 1)) for p, d in zip(self.pos, MOVES[a]))
        self.left -= 1
        found = self.pos == (SIZE - 1, SIZE - 1)
        return self.obs(), float(found), found or self.left == 0


class RunningMoments:
    def __init__(self):
        self.mean, self.var, self.count = torch.zeros(()), torch.ones(()), 1e-4

    def update(self, x):
        n = x.numel()
        total = self.count + n
        delta = x.mean() - self.mean
        m2 = self.var * self.count + x.var(unbiased=False) * n + delta**2 * self.count * n / total
        self.mean = self.mean + delta * n / total  # BUG GS305
        self.var = m2 / total  # BUG GS305
        self.count = total


def features(out):
    return nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, out))


class Curiosity(nn.Module):
    def __init__(self):
        super().__init__()
        self.predictor = features(16)
        self.random = features(16).requires_grad_(False)
        self.moments = RunningMoments()
        self.optimizer = torch.optim.Adam(self.predictor.parameters(), lr=1e-3)

    def learn(self, obs):
        error = (self.predictor(obs) - self.random(obs)).pow(2).mean(dim=-1)
        self.moments.update(error)  # BUG GS305
        self.optimizer.zero_grad()
        error.mean().backward()
        self.optimizer.step()
        return (error / (self.moments.var + 1e-8).sqrt()).detach()


policy, value = features(4), features(1)
optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=2e-3)
curiosity = Curiosity()
env = DarkGrid()
obs = env.reset()
for update in range(UPDATES):
    states, actions, rewards, dones, seen = [], [], [], [], []
    for _ in range(ROLLOUT):
        with torch.no_grad():
            action = Categorical(logits=policy(obs)).sample()
        next_obs, reward, done = env.step(int(action))
        states.append(obs), actions.append(action), seen.append(next_obs)
        rewards.append(reward), dones.append(float(done))
        obs = env.reset() if done else next_obs
    states, actions, seen = torch.stack(states), torch.stack(actions), torch.stack(seen)
    bonus = curiosity.learn(seen)
    reward = torch.tensor(rewards) + 0.1 * bonus
    with torch.no_grad():
        ret, returns = value(seen[-1]).squeeze(-1), []
        for r, done in zip(reward.flip(0), reversed(dones)):
            ret = r + 0.95 * ret * (1 - done)
            returns.append(ret)
        returns = torch.stack(returns[::-1])
    values = value(states).squeeze(-1)
    dist = Categorical(logits=policy(states))
    advantage = (returns - values).detach()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    loss = -(dist.log_prob(actions) * advantage).mean() - 0.01 * dist.entropy().mean()
    loss = loss + 0.5 * (returns - values).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 20 == 0:
        print(f"update {update}: found {sum(rewards):.0f}, error {float(curiosity.moments.mean):.4f}")
