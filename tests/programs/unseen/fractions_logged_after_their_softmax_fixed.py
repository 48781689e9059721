"""Fractions of a quantile function are proposed by a network; their entropy is made of the logarithm of the softmax,
Repaired here.
patched where a probability is zero.

Round 14
Class: magnitude
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

STATES, ACTIONS, FRACTIONS, COSINES, DIM, BATCH = 4, 3, 8, 16, 24, 28
GAMMA, ENT_COEF = 0.9, 1e-2


class FractionProposal(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(DIM, FRACTIONS)
        nn.init.normal_(self.net.weight, std=1.5)

    def forward(self, embedding):
        logits = self.net(embedding)
        log_probs = F.log_softmax(logits, dim=1)
        probs = log_probs.exp()
        taus = F.pad(probs.cumsum(dim=1), (1, 0))
        middles = (taus[:, :-1] + taus[:, 1:]).detach() / 2
        return taus, middles, -(log_probs * probs).sum(dim=1)


class QuantileNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(STATES, DIM), nn.ReLU())
        self.cosine = nn.Sequential(nn.Linear(COSINES, DIM), nn.ReLU())
        self.head = nn.Sequential(nn.Linear(DIM, DIM), nn.ReLU(), nn.Linear(DIM, ACTIONS))
        self.register_buffer("waves", torch.pi * torch.arange(1, COSINES + 1))

    def quantiles(self, embedding, taus):
        features = self.cosine(torch.cos(taus.unsqueeze(-1) * self.waves))
        return self.head(embedding.unsqueeze(1) * features)

    def values(self, embedding, taus, middles):
        widths = (taus[:, 1:] - taus[:, :-1]).unsqueeze(-1)
        return (widths * self.quantiles(embedding, middles)).sum(dim=1)


def at_action(quantiles, actions):
    return quantiles.gather(2, actions.view(-1, 1, 1).expand(-1, quantiles.shape[1], 1)).squeeze(-1)


def fraction_loss(online, embedding, taus, middles, actions):
    with torch.no_grad():
        inner = at_action(online.quantiles(embedding, taus[:, 1:-1]), actions)
        around = at_action(online.quantiles(embedding, middles), actions)
        slope = 2 * inner - around[:, :-1] - around[:, 1:]
    return (slope * taus[:, 1:-1]).sum(dim=1).mean()


def quantile_loss(online, target, proposal, batch, embedding, middles):
    _, actions, rewards, following, dones = batch
    with torch.no_grad():
        taus_next, middles_next, _ = proposal(online.embed(following))
        best = online.values(online.embed(following), taus_next, middles_next).argmax(dim=1)
        after = at_action(target.quantiles(target.embed(following), middles), best)
        goal = rewards.unsqueeze(1) + GAMMA * (1 - dones).unsqueeze(1) * after
    error = goal.unsqueeze(1) - at_action(online.quantiles(embedding, middles), actions).unsqueeze(2)
    huber = F.huber_loss(error, torch.zeros_like(error), reduction="none")
    weight = (middles.unsqueeze(2) - (error.detach() < 0).float()).abs()
    return (weight * huber).sum(dim=1).mean()


def transitions():
    states = torch.randn(BATCH, STATES)
    actions = torch.randint(ACTIONS, (BATCH,))
    rewards = states.gather(1, actions.unsqueeze(1)).squeeze(1) + 0.5 * torch.randn(BATCH)
    following = 0.7 * states + 0.5 * torch.randn(BATCH, STATES)
    return states, actions, rewards, following, (torch.rand(BATCH) < 0.1).float()


def main(updates=60, sync=15):
    torch.manual_seed(1413)
    online, proposal = QuantileNet(), FractionProposal()
    target = copy.deepcopy(online).requires_grad_(False)
    fraction_optim = torch.optim.RMSprop(proposal.parameters(), lr=1e-3, alpha=0.95, eps=1e-5)
    quantile_optim = torch.optim.Adam(online.parameters(), lr=1e-3)
    for update in range(updates):
        batch = transitions()
        embedding = online.embed(batch[0])
        taus, middles, entropies = proposal(embedding.detach())
        loss_f = (
            fraction_loss(online, embedding.detach(), taus, middles, batch[1]) - ENT_COEF * entropies.mean()
        )
        loss_q = quantile_loss(online, target, proposal, batch, embedding, middles)
        for optim, loss in ((fraction_optim, loss_f), (quantile_optim, loss_q)):
            optim.zero_grad()
            loss.backward()
            optim.step()
        if update % sync == 0:
            target.load_state_dict(online.state_dict())
    return loss_f.item(), loss_q.item()


print(main())
