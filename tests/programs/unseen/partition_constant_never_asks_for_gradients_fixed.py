"""Trajectory balance over a grid: the logarithm of the partition function is learned beside the policies.

Round 15
Class: weights
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1502)
SIDE, BATCH = 5, 24
STOP = 2


class GridEnv:
    """From the corner, step right or up or stop; the reward is high near the far corners."""

    def reset(self, count):
        return torch.zeros(count, 2, dtype=torch.long)

    def features(self, states):
        return nn.functional.one_hot(states, SIDE).flatten(1).float()

    def forward_mask(self, states):
        return torch.cat([states < SIDE - 1, torch.ones(len(states), 1, dtype=torch.bool)], 1)

    def backward_mask(self, states):
        return states > 0

    def log_reward(self, states):
        centred = (states.float() / (SIDE - 1) - 0.5).abs()
        return torch.log(0.05 + (centred > 0.25).all(1).float() * 2)


def policy(outputs):
    return nn.Sequential(nn.Linear(2 * SIDE, 48), nn.LeakyReLU(), nn.Linear(48, outputs))


def masked(logits, mask):
    return Categorical(logits=logits.masked_fill(~mask, -1e9))


class TrajectoryBalance:
    def __init__(self, env, pf, pb, log_z):
        self.env, self.pf, self.pb, self.log_z = env, pf, pb, log_z

    def sample(self, count):
        states, alive = self.env.reset(count), torch.ones(count, dtype=torch.bool)
        log_pf, log_pb = torch.zeros(count), torch.zeros(count)
        while alive.any():
            dist = masked(self.pf(self.env.features(states)), self.env.forward_mask(states))
            action = dist.sample()
            log_pf = log_pf + torch.where(alive, dist.log_prob(action), torch.zeros(count))
            moving = alive & (action != STOP)
            move = nn.functional.one_hot(action.clamp(max=1), 2) * moving.unsqueeze(1)
            states = states + move
            if moving.any():
                here = states[moving]
                back = masked(self.pb(self.env.features(here)), self.env.backward_mask(here))
                log_pb = log_pb.index_add(0, moving.nonzero().squeeze(1), back.log_prob(action[moving]))
            alive = moving
        return states, log_pf, log_pb

    def loss(self, count):
        states, log_pf, log_pb = self.sample(count)
        scores = self.log_z + log_pf - self.env.log_reward(states) - log_pb
        return scores.pow(2).mean()


env = GridEnv()
pf, pb = policy(3), policy(2)
log_z = torch.tensor(0.0, requires_grad=True)
gflownet = TrajectoryBalance(env, pf, pb, log_z)
optimizer = torch.optim.Adam(
    [
        {"params": [*pf.parameters(), *pb.parameters()], "lr": 2e-3},
        {"params": [log_z], "lr": 5e-2},
    ]
)
seen = 0
for iteration in range(60):
    optimizer.zero_grad()
    loss = gflownet.loss(BATCH)
    loss.backward()
    optimizer.step()
    seen += BATCH
    if iteration % 20 == 0:
        print({"loss": loss.item(), "log_z": log_z.item(), "states": seen})
