"""A distributional agent with weighted losses: the norm is limited in the line after the optimizer's step.

Round 13
Class: the line
"""

import torch
from torch import nn

torch.manual_seed(1304)
ATOMS, ACTIONS, BATCH = 21, 3, 32
support = torch.linspace(-4, 4, ATOMS)
delta = support[1] - support[0]


class Distributional(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, ACTIONS * ATOMS))

    def forward(self, obs, log=False):
        logits = self.net(obs).view(-1, ACTIONS, ATOMS)
        return logits.log_softmax(-1) if log else logits.softmax(-1)


class Agent:
    def __init__(self, norm_clip=0.05):
        self.online, self.target = Distributional(), Distributional()
        self.update_target()
        for parameter in self.target.parameters():
            parameter.requires_grad = False
        self.optimiser = torch.optim.Adam(self.online.parameters(), lr=1e-3)
        self.norm_clip = norm_clip

    def update_target(self):
        self.target.load_state_dict(self.online.state_dict())

    def learn(self, obs, actions, rewards, next_obs, nonterminal, weights):
        rows = torch.arange(BATCH)
        log_ps = self.online(obs, log=True)[rows, actions]
        with torch.no_grad():
            best = (support * self.online(next_obs)).sum(-1).argmax(1)
            pns = self.target(next_obs)[rows, best]
            tz = (rewards[:, None] + nonterminal[:, None] * 0.97 * support).clamp(-4, 4)
            b = (tz + 4) / delta
            low, high = b.floor().long(), b.ceil().long()
            low[(high > 0) & (low == high)] -= 1
            high[(low < ATOMS - 1) & (low == high)] += 1
            m = torch.zeros(BATCH, ATOMS)
            m.scatter_add_(1, low, pns * (high.float() - b))
            m.scatter_add_(1, high, pns * (b - low.float()))
        loss = weights * -(m * log_ps).sum(1)
        self.online.zero_grad()
        loss.mean().backward()
        nn.utils.clip_grad_norm_(self.online.parameters(), self.norm_clip)
        self.optimiser.step()
        return loss.detach()


agent = Agent()
for step in range(80):
    obs, next_obs = torch.randn(BATCH, 6), torch.randn(BATCH, 6)
    actions = torch.randint(ACTIONS, (BATCH,))
    rewards = obs[:, 0] * (actions == 1).float()
    nonterminal = (torch.rand(BATCH) > 0.1).float()
    agent.learn(obs, actions, rewards, next_obs, nonterminal, torch.rand(BATCH) + 0.5)
    if step % 10 == 9:
        agent.update_target()
