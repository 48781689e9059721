"""Fractions and quantiles learn from one sum; the difference of the quantiles only weighs the fractions.

Round 15
Class: stays alive
"""

import copy
import math

import torch
from torch import nn

torch.manual_seed(1516)
STATE, ACTIONS, LEVELS, HIDDEN, BATCH = 5, 3, 8, 32, 24


class FractionProposal(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(HIDDEN, LEVELS)

    def forward(self, hidden):
        widths = self.out(hidden).softmax(1)
        taus = widths.cumsum(1)
        edges = torch.cat([torch.zeros(len(hidden), 1), taus], 1)
        return taus, (edges[:, 1:] + edges[:, :-1]) / 2


class QuantileNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(STATE, HIDDEN), nn.ReLU())
        self.embed = nn.Sequential(nn.Linear(16, HIDDEN), nn.ReLU())
        self.out = nn.Linear(HIDDEN, ACTIONS)
        self.register_buffer("waves", math.pi * torch.arange(16).float())

    def quantiles(self, hidden, taus):
        """Batch by levels by actions."""
        cosines = torch.cos(taus.unsqueeze(2) * self.waves)
        return self.out(hidden.unsqueeze(1) * self.embed(cosines))


class FQF:
    def __init__(self, gamma=0.95):
        self.net, self.proposal, self.gamma = QuantileNet(), FractionProposal(), gamma
        self.target = copy.deepcopy(self.net).requires_grad_(False)
        self.net_optim = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        self.proposal_optim = torch.optim.RMSprop(self.proposal.parameters(), lr=1e-4)

    @torch.no_grad()
    def compute_target(self, reward, after, done):
        hidden = self.net.encoder(after)
        taus, middles = self.proposal(hidden)
        widths = torch.diff(taus, dim=1, prepend=torch.zeros(len(taus), 1))
        best = (widths.unsqueeze(2) * self.net.quantiles(hidden, middles)).sum(1).argmax(1)
        values = self.target.quantiles(self.target.encoder(after), middles)
        chosen = values[torch.arange(len(best)), :, best]
        return reward.unsqueeze(1) + self.gamma * (1 - done).unsqueeze(1) * chosen

    def quantile_loss(self, values, middles, goal):
        error = goal.unsqueeze(1) - values.unsqueeze(2)
        huber = nn.functional.huber_loss(error, torch.zeros_like(error), reduction="none")
        return ((middles.unsqueeze(2) - (error < 0).float()).abs() * huber).mean(2).sum(1)

    def proposal_loss(self, hidden, taus, middles, action):
        rows = torch.arange(len(action))
        with torch.no_grad():
            at_taus = self.net.quantiles(hidden, taus[:, :-1])[rows, :, action]
            at_middles = self.net.quantiles(hidden, middles)[rows, :, action]
            slopes = 2 * at_taus - at_middles[:, :-1] - at_middles[:, 1:]
        return (slopes * taus[:, :-1]).mean(1)

    def compute_loss(self, batch):
        obs, action, reward, after, done = batch
        hidden = self.net.encoder(obs)
        taus, middles = self.proposal(hidden.detach())
        values = self.net.quantiles(hidden, middles.detach())[torch.arange(len(action)), :, action]
        fitted = self.quantile_loss(values, middles.detach(), self.compute_target(reward, after, done))
        proposed = self.proposal_loss(hidden.detach(), taus, middles, action)
        return (fitted + proposed).mean()

    def update(self, batch):
        loss = self.compute_loss(batch)
        self.net_optim.zero_grad()
        self.proposal_optim.zero_grad()
        loss.backward()
        self.net_optim.step()
        self.proposal_optim.step()
        return loss.item()

    def sync(self):
        self.target.load_state_dict(self.net.state_dict())


def transitions():
    obs, action = torch.randn(BATCH, STATE), torch.randint(ACTIONS, (BATCH,))
    reward = obs[torch.arange(BATCH), action] + 0.5 * torch.randn(BATCH)
    return obs, action, reward, 0.8 * obs + 0.2 * torch.randn(BATCH, STATE), (torch.rand(BATCH) < 0.1).float()


agent = FQF()
for step in range(60):
    loss = agent.update(transitions())
    if step % 10 == 9:
        agent.sync()
        print(step, loss)
