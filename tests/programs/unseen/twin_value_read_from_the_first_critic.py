"""Clipped double learning: the value of the twin is selected out of the first critic's output, by a copied line, and the
twin is never fitted.

Round 12
Class: the line
"""

import copy
from typing import NamedTuple

import torch
from torch import nn

torch.manual_seed(1219)


class Batch(NamedTuple):
    obs: torch.Tensor
    action: torch.Tensor
    reward: torch.Tensor
    after: torch.Tensor


def replay():
    while True:
        obs, action = torch.randn(36, 6), torch.rand(36, 2) * 2 - 1
        after = 0.8 * obs + 0.2 * action.repeat(1, 3)
        yield Batch(obs, action, -after.pow(2).mean(1), after)


def head(inputs, outputs, *end):
    return nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs), *end)


nets = nn.ModuleDict({"actor": head(6, 2, nn.Tanh()), "critic": head(8, 1), "twin": head(8, 1)})
slow = copy.deepcopy(nets).requires_grad_(False)
critic_opt = torch.optim.Adam([*nets["critic"].parameters(), *nets["twin"].parameters()], lr=1e-3)
actor_opt = torch.optim.Adam(nets["actor"].parameters(), lr=1e-3)


def target(batch):
    with torch.no_grad():
        noise = (0.1 * torch.randn_like(batch.action)).clamp(-0.2, 0.2)
        pair = torch.cat([batch.after, (slow["actor"](batch.after) + noise).clamp(-1, 1)], 1)
        lower = torch.min(slow["critic"](pair), slow["twin"](pair)).squeeze(1)
        return batch.reward + 0.95 * lower


def critic_loss(batch):
    pair = torch.cat([batch.obs, batch.action], 1)
    value, twin_value = nets["critic"](pair), nets["twin"](pair)
    goal = target(batch)
    selected = value.squeeze(1)
    twin_selected = value.squeeze(1)  # BUG GS204
    return (selected - goal).pow(2).mean() + (twin_selected - goal).pow(2).mean()


for step, batch in zip(range(80), replay()):
    critic_opt.zero_grad()
    loss = critic_loss(batch)
    loss.backward()
    critic_opt.step()
    if step % 2:
        actor_opt.zero_grad()
        gain = nets["critic"](torch.cat([batch.obs, nets["actor"](batch.obs)], 1)).mean()
        (-gain).backward()
        actor_opt.step()
        with torch.no_grad():
            for mine, theirs in zip(nets.parameters(), slow.parameters()):
                theirs.mul_(0.98).add_(mine, alpha=0.02)
print("loss", loss.item(), "gain", gain.item())
