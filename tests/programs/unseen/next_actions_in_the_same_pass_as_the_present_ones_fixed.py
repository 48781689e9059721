"""A TD3 that asks its actor for the actions of a batch and of its successors in one pass: the successors' half goes
into the target with its graph, and the backward of the critics walks through what the actor's has freed.
Repaired here.

Round 24
Class: the line
"""

import copy
import itertools

import numpy as np
import torch
from torch import nn

OBS, ACT = 4, 2


def mlp(*sizes, last=nn.Identity):
    layers = []
    for a, b in itertools.pairwise(sizes):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1], last())


class QEnsemble(nn.Module):
    def __init__(self, members=2):
        super().__init__()
        self.members = nn.ModuleList(mlp(OBS + ACT, 48, 48, 1) for _ in range(members))

    def forward(self, obs, action):
        x = torch.cat([obs, action], dim=-1)
        return torch.stack([q(x).squeeze(-1) for q in self.members])


class TD3Loss:
    """Makes both losses in one go, as a dictionary."""

    def __init__(self, actor, qvalue, gamma=0.97, noise=0.2, clip=0.4):
        self.actor, self.qvalue = actor, qvalue
        self.target_qvalue = copy.deepcopy(qvalue).requires_grad_(False)
        self.gamma, self.noise, self.clip = gamma, noise, clip

    def __call__(self, batch):
        both = self.actor(torch.stack([batch["obs"], batch["next_obs"]]))
        action, next_action = both.unbind(0)
        smoothing = (torch.randn_like(next_action) * self.noise).clamp(-self.clip, self.clip)
        next_action = (next_action.detach() + smoothing).clamp(-1, 1)
        next_value = self.target_qvalue(batch["next_obs"], next_action).min(0).values
        target = batch["reward"] + self.gamma * (1 - batch["terminated"]) * next_value
        loss_qvalue = (self.qvalue(batch["obs"], batch["action"]) - target).pow(2).mean()
        self.qvalue.requires_grad_(False)
        loss_actor = -self.qvalue(batch["obs"], action)[0].mean()
        self.qvalue.requires_grad_(True)
        return {"loss_actor": loss_actor, "loss_qvalue": loss_qvalue}


class Plane:
    """Fly to the middle; the wind is a part of the observation."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.place, self.wind, self.clock = self.rng.uniform(-1, 1, 2), self.rng.normal(scale=0.05, size=2), 0
        return np.concatenate([self.place, self.wind]).astype(np.float32)

    def step(self, action):
        self.place = self.place + 0.2 * action + self.wind
        self.clock += 1
        distance = np.linalg.norm(self.place)
        observation = np.concatenate([self.place, self.wind]).astype(np.float32)
        return observation, -distance - 5.0 * (distance > 2.5), bool(distance > 2.5), self.clock >= 30


def train(updates=60):
    torch.manual_seed(2411)
    rng = np.random.default_rng(11)
    actor, qvalue = mlp(OBS, 48, ACT, last=nn.Tanh), QEnsemble()
    loss_module = TD3Loss(actor, qvalue)
    optim_actor = torch.optim.Adam(actor.parameters(), lr=1e-3)
    optim_qvalue = torch.optim.Adam(qvalue.parameters(), lr=2e-3)
    env, memory = Plane(rng), []
    obs = env.reset()
    for step in range(100 + 4 * updates):
        with torch.no_grad():
            action = actor(torch.as_tensor(obs)).numpy()
        action = np.clip(action + rng.normal(scale=0.3, size=ACT), -1, 1).astype(np.float32)
        next_obs, reward, terminated, truncated = env.step(action)
        memory.append((obs, action, reward, next_obs, terminated))
        obs = env.reset() if terminated or truncated else next_obs
        if step < 100 or step % 4:
            continue
        rows = [memory[i] for i in rng.integers(len(memory), size=48)]
        names = ("obs", "action", "reward", "next_obs", "terminated")
        batch = {
            name: torch.tensor(np.array(column), dtype=torch.float32)
            for name, column in zip(names, zip(*rows))
        }
        losses = loss_module(batch)
        optim_actor.zero_grad()
        losses["loss_actor"].backward()
        optim_qvalue.zero_grad()
        losses["loss_qvalue"].backward()
        optim_actor.step()
        optim_qvalue.step()
        with torch.no_grad():
            for slow, fast in zip(loss_module.target_qvalue.parameters(), qvalue.parameters()):
                slow.lerp_(fast, 0.02)
    print({name: round(loss.item(), 3) for name, loss in losses.items()})


train()
