"""A soft actor-critic never sums its log-probabilities over the joints: actor and target take a column for each.

Round 13
Class: axes
"""

import copy
from types import SimpleNamespace

import torch
from torch import nn

torch.manual_seed(1313)


class Net(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs))

    def forward(self, *parts):
        return self.model(torch.cat(parts, -1))


class SACPolicy(nn.Module):
    def __init__(self, obs=6, act=3, alpha=0.1):
        super().__init__()
        self.actor = Net(obs, 2 * act)
        self.critic = Net(obs + act, 1)
        self.critic_old = copy.deepcopy(self.critic)
        self.alpha, self.eps, self.scale = alpha, 1e-6, 2.0

    def forward(self, obs):
        mu, log_sigma = self.actor(obs).chunk(2, -1)
        dist = torch.distributions.Normal(mu, log_sigma.clamp(-5, 1).exp())
        x = dist.rsample()
        y = torch.tanh(x)
        log_prob = dist.log_prob(x) - torch.log(self.scale * (1 - y.pow(2)) + self.eps)  # BUG GS603 GS601
        return SimpleNamespace(act=y * self.scale, log_prob=log_prob, dist=dist)


policy = SACPolicy()
actor_optim = torch.optim.Adam(policy.actor.parameters(), lr=1e-3)
critic_optim = torch.optim.Adam(policy.critic.parameters(), lr=1e-3)


def learn(batch):
    with torch.no_grad():
        ahead = policy(batch.obs_next)
        q_next = policy.critic_old(batch.obs_next, ahead.act) - policy.alpha * ahead.log_prob
        target = batch.rew[:, None] + 0.95 * (1 - batch.done[:, None]) * q_next
    critic_loss = (policy.critic(batch.obs, batch.act) - target).pow(2).mean()  # BUG GS603 GS601
    critic_optim.zero_grad()
    critic_loss.backward()
    critic_optim.step()

    now = policy(batch.obs)
    actor_loss = (policy.alpha * now.log_prob - policy.critic(batch.obs, now.act)).mean()
    actor_optim.zero_grad()
    actor_loss.backward()
    actor_optim.step()
    for o, n in zip(policy.critic_old.parameters(), policy.critic.parameters()):
        o.data.copy_(o.data * 0.99 + n.data * 0.01)


for _ in range(50):
    obs = torch.randn(40, 6)
    act = (torch.rand(40, 3) - 0.5) * 4
    learn(
        SimpleNamespace(
            obs=obs,
            act=act,
            rew=-(act - obs[:, :3]).pow(2).sum(-1),
            obs_next=torch.randn(40, 6),
            done=(torch.rand(40) < 0.05).float(),
        )
    )
