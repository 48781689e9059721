"""Implicit cloning: counter-examples come out of Langevin steps that go on from update to update. The actions are told to
require a gradient and never told otherwise, so every step hangs on all the steps before it.

Round 16
Class: stays alive
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1610)
OBS, ACT, BATCH, NEGATIVES = 6, 2, 24, 8


class EBM(nn.Module):
    """The energy of an action in a state; demonstrated actions should have a low one."""

    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(OBS + ACT, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, obs, action):
        return self.net(torch.cat([obs, action], -1)).squeeze(-1)


class MCMC:
    """Langevin dynamics on the actions, persistent over the updates."""

    def __init__(self, bounds=(-1.0, 1.0), iters=3, stepsize=0.1, noise=0.05, refresh=0.1):
        self.bounds, self.iters, self.stepsize = bounds, iters, stepsize
        self.noise, self.refresh = noise, refresh
        self.chain = self.uniform((BATCH, NEGATIVES, ACT))

    def uniform(self, shape):
        low, high = self.bounds
        return torch.rand(shape) * (high - low) + low

    def gradient(self, obs, action, ebm):
        action = action.requires_grad_(True)  # BUG GS305
        energy = ebm(obs, action).sum()
        return torch.autograd.grad(energy, action)[0]

    def langevin_step(self, obs, action, ebm):
        slope = self.gradient(obs, action, ebm)
        delta = self.stepsize * (0.5 * slope + self.noise * torch.randn_like(action))
        return (action - delta.clamp(-0.2, 0.2)).clamp(*self.bounds)  # BUG GS305

    def sample(self, obs, ebm):
        fresh = torch.rand(BATCH, NEGATIVES, 1) < self.refresh
        action = torch.where(fresh, self.uniform(self.chain.shape), self.chain)
        tiled = obs.unsqueeze(1).expand(-1, NEGATIVES, -1)
        for _ in range(self.iters):
            action = self.langevin_step(tiled, action, ebm)
        self.chain = action  # BUG GS305
        return tiled, action.detach()

    def infer(self, obs, ebm, candidates=64):
        """The best of many random actions."""
        tiled = obs.unsqueeze(1).expand(-1, candidates, -1)
        action = self.uniform((len(obs), candidates, ACT))
        with torch.no_grad():
            best = ebm(tiled, action).argmin(1)
        return action[torch.arange(len(obs)), best]


class IBCPolicy:
    def __init__(self, lr=2e-3):
        self.ebm, self.optimizer_of_actions = EBM(), MCMC()
        self.optimizer = torch.optim.AdamW(self.ebm.parameters(), lr=lr)

    def learn(self, obs, expert):
        tiled, negatives = self.optimizer_of_actions.sample(obs, self.ebm)
        positive = self.ebm(obs, expert).unsqueeze(1)
        energies = torch.cat([positive, self.ebm(tiled, negatives)], dim=1)
        loss = F.cross_entropy(-energies, torch.zeros(len(obs), dtype=torch.long))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def evaluate(self, obs, expert):
        return (self.optimizer_of_actions.infer(obs, self.ebm) - expert).abs().mean().item()


def demonstrations(count):
    obs = torch.randn(count, OBS)
    return obs, torch.tanh(torch.stack([obs[:, 0] - obs[:, 1], obs[:, 2]], -1))


policy = IBCPolicy()
for update in range(80):
    loss = policy.learn(*demonstrations(BATCH))
    if update % 20 == 19:
        print(update, loss, policy.evaluate(*demonstrations(32)))
