"""A helper turns arrays of the batch into tensors like another tensor. The returns are made like the actions, which are
whole numbers: with returns between minus one and one nothing is left of them, and the policy is taught nothing.

Round 16
Class: zero in part
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1604)
rng = np.random.default_rng(1604)
OBS, ACTIONS, EPISODES = 6, 4, 6


def to_torch_as(x, like):
    """The array as a tensor of the same type and on the same device as another."""
    return torch.as_tensor(x).to(like)  # BUG GS807 GS208


class Batch(dict):
    __getattr__ = dict.__getitem__

    def split(self, size):
        order = rng.permutation(len(self.act))
        for start in range(0, len(order), size):
            yield Batch({key: value[order[start : start + size]] for key, value in self.items()})


class Beacon:
    """Four beacons, one of which is lit; a step towards it pays a little. Episodes end by themselves."""

    def reset(self):
        self.lit, self.left = rng.integers(ACTIONS), rng.integers(3, 9)
        return self.observe()

    def observe(self):
        seen = rng.normal(0.0, 0.3, OBS).astype(np.float32)
        seen[self.lit] += 1.0
        return seen

    def step(self, action):
        self.left -= 1
        reward = 0.12 if action == self.lit else -0.04
        self.lit = rng.integers(ACTIONS)
        return self.observe(), reward, self.left == 0


class PGPolicy(nn.Module):
    def __init__(self, model, discount=0.9):
        super().__init__()
        self.model, self.discount = model, discount
        self.optim = torch.optim.Adam(self.model.parameters(), lr=5e-3)

    def forward(self, batch):
        dist = Categorical(logits=self.model(torch.as_tensor(batch.obs)))
        return Batch(dist=dist, act=dist.sample())

    def process(self, rewards):
        returns, total = np.zeros(len(rewards), np.float32), 0.0
        for t in reversed(range(len(rewards))):
            total = rewards[t] + self.discount * total
            returns[t] = total
        return returns

    def learn(self, batch, size):
        losses = []
        for part in batch.split(size):
            result = self(part)
            act = to_torch_as(part.act, result.act)
            ret = to_torch_as(part.returns, result.act)  # BUG GS807 GS208
            loss = -(result.dist.log_prob(act) * ret).mean()
            self.optim.zero_grad()
            loss.backward()
            self.optim.step()
            losses.append(loss.item())
        return np.mean(losses)


class Collector:
    def __init__(self, env, policy):
        self.env, self.policy = env, policy

    def collect(self, episodes):
        obs, act, returns = [], [], []
        for _ in range(episodes):
            seen, done, rewards = self.env.reset(), False, []
            while not done:
                with torch.no_grad():
                    action = self.policy(Batch(obs=seen[None])).act.item()
                obs.append(seen)
                act.append(action)
                seen, reward, done = self.env.step(action)
                rewards.append(reward)
            returns.append(self.policy.process(rewards))
        return Batch(obs=np.stack(obs), act=np.array(act), returns=np.concatenate(returns))


policy = PGPolicy(nn.Sequential(nn.Linear(OBS, 32), nn.Tanh(), nn.Linear(32, ACTIONS)))
collector = Collector(Beacon(), policy)
for iteration in range(40):
    batch = collector.collect(EPISODES)
    loss = policy.learn(batch, 16)
    if iteration % 10 == 0:
        print(iteration, loss, batch.returns.mean())
