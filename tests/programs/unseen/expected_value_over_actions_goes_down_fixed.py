"""A discrete soft actor-critic averages over all its actions; the average has the sign of an ascent.

Round 13
Class: meaning
"""

import copy

import torch
from torch import nn

torch.manual_seed(1312)
OBS, ACTIONS, BATCH = 5, 4, 32


def head():
    return nn.Sequential(nn.Linear(OBS, 48), nn.ReLU(), nn.Linear(48, ACTIONS))


class DiscreteSAC:
    def __init__(self, gamma=0.9, tau=0.01):
        self.policy, self.q1, self.q2 = head(), head(), head()
        self.t1, self.t2 = (
            copy.deepcopy(self.q1).requires_grad_(False),
            copy.deepcopy(self.q2).requires_grad_(False),
        )
        self.actor_optim = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.critic_optim = torch.optim.Adam([*self.q1.parameters(), *self.q2.parameters()], lr=1e-3)
        self.gamma, self.tau, self.temp = gamma, tau, 0.05

    def update_critic(self, obs, act, rew, nxt, terminal):
        with torch.no_grad():
            log_probs = self.policy(nxt).log_softmax(-1)
            soft = torch.min(self.t1(nxt), self.t2(nxt)) - self.temp * log_probs
            target = rew + self.gamma * (1 - terminal) * (log_probs.exp() * soft).sum(-1)
        loss = sum(
            (q(obs).gather(1, act[:, None]).squeeze(1) - target).pow(2).mean() for q in (self.q1, self.q2)
        )
        self.critic_optim.zero_grad()
        loss.backward()
        self.critic_optim.step()

    def compute_actor_loss(self, obs):
        with torch.no_grad():
            q_t = torch.min(self.q1(obs), self.q2(obs))
        log_probs = self.policy(obs).log_softmax(-1)
        probs = log_probs.exp()
        return (probs * (self.temp * log_probs - q_t)).sum(dim=1).mean()

    def update_actor(self, obs):
        loss = self.compute_actor_loss(obs)
        self.actor_optim.zero_grad()
        loss.backward()
        self.actor_optim.step()

    @torch.no_grad()
    def sync(self):
        for online, slow in ((self.q1, self.t1), (self.q2, self.t2)):
            for p, t in zip(online.parameters(), slow.parameters()):
                t.lerp_(p, self.tau)


algo = DiscreteSAC()
for _ in range(60):
    obs = torch.randn(BATCH, OBS)
    act = torch.randint(ACTIONS, (BATCH,))
    rew = (obs.gather(1, act[:, None]).squeeze(1) > 0.3).float()
    algo.update_critic(obs, act, rew, torch.randn(BATCH, OBS), (torch.rand(BATCH) < 0.1).float())
    algo.update_actor(obs)
    algo.sync()
