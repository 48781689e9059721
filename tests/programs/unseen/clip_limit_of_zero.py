"""The clip's limit is an integer division of the learning settings and comes out as zero, so that every
gradient is scaled away.

Class: magnitude
"""

import argparse

import torch
from torch import nn

torch.manual_seed(283)
parser = argparse.ArgumentParser()
parser.add_argument("--envs", type=int, default=16)
parser.add_argument("--clip-total", type=int, default=8)
args = parser.parse_args([])

critic = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
limit = args.clip_total // args.envs  # BUG GS506


def minibatch():
    obs = torch.randn(args.envs, 5)
    return obs, torch.tanh(obs.sum(-1, keepdim=True))


def train(updates):
    for _ in range(updates):
        obs, returns = minibatch()
        loss = (critic(obs) - returns).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(critic.parameters(), limit)  # BUG GS506
        optimizer.step()
    return loss.item()


print("loss", train(150))
