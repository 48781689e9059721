"""A flow network scores trajectories while sampling them; the replay buffer hands them out again, scores and all.

Round 13
Class: stays alive
"""

import random
from dataclasses import dataclass

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1303)
random.seed(1303)
SIDE = 6


@dataclass
class Trajectory:
    log_pf: torch.Tensor
    length: int
    log_reward: float


class GridSampler:
    def __init__(self):
        self.forward_policy = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 3))

    def sample(self):
        at, scores = torch.zeros(2), []
        for _ in range(2 * SIDE):
            logits = self.forward_policy(at / SIDE)
            blocked = torch.cat([at >= SIDE - 1, torch.tensor([False])])
            dist = Categorical(logits=logits.masked_fill(blocked, -1e9))
            action = dist.sample()
            scores.append(dist.log_prob(action))
            if action == 2:
                break
            at = at.clone()
            at[action] += 1
        reward = 0.1 + float((at - SIDE / 2).abs().min() > 1)
        return Trajectory(
            torch.stack(scores).sum(), len(scores), torch.tensor(reward).log().item()
        )  # BUG GS402 GS305


class Replay:
    def __init__(self, size=64):
        self.items, self.size = [], size

    def add(self, trajectories):
        self.items.extend(trajectories)  # BUG GS402 GS305
        self.items = self.items[-self.size :]

    def sample(self, n):
        return random.sample(self.items, n)


sampler, replay = GridSampler(), Replay()
log_z = nn.Parameter(torch.zeros(()))
optimizer = torch.optim.Adam(
    [{"params": sampler.forward_policy.parameters()}, {"params": [log_z], "lr": 0.1}], lr=1e-3
)
for iteration in range(40):
    fresh = [sampler.sample() for _ in range(8)]
    replay.add(fresh)
    batch = replay.sample(8)
    balance = torch.stack([log_z + t.log_pf - t.log_reward + (t.length - 1) * 0.6931 for t in batch])
    loss = balance.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()  # BUG GS402
    optimizer.step()
