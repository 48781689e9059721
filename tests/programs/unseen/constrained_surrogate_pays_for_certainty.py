"""A safe PPO: the surrogate is made in the base class, where the entropy of the policy is added to the loss in place of
being taken off, and the subclass mixes cost into the advantage.

Round 14
Class: meaning
"""

from types import SimpleNamespace

import torch
from torch import nn
from torch.distributions import Normal

CFG = SimpleNamespace(
    algo=SimpleNamespace(clip=0.2, entropy_coef=0.02, use_entropy=True, iters=4, max_grad_norm=10.0),
    lagrange=SimpleNamespace(initial=0.3, limit=0.2, lr=0.05),
    envs=32,
    steps=4,
)


class Actor(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(obs, 32), nn.Tanh(), nn.Linear(32, act))
        self.log_std = nn.Parameter(torch.full((act,), -0.5))

    def forward(self, obs):
        return Normal(self.mean(obs), self.log_std.exp())


class Swim:
    """Reward for speed along one axis, cost for leaving the lane."""

    def __init__(self, envs):
        self.obs = torch.randn(envs, 3)

    def step(self, action):
        reward = action[:, 0] * self.obs[:, 0] - 0.1 * action.pow(2).sum(-1)
        cost = (action[:, 1] + self.obs[:, 1]).abs().gt(1.5).float()
        self.obs = 0.7 * self.obs + 0.7 * torch.randn_like(self.obs)
        return reward, cost


class PolicyGradient:
    def __init__(self, cfg):
        self.cfg, self.env = cfg, Swim(cfg.envs)
        self.actor = Actor(3, 2)
        self.reward_critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
        self.cost_critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=3e-3)
        critics = [*self.reward_critic.parameters(), *self.cost_critic.parameters()]
        self.critic_optimizer = torch.optim.Adam(critics, lr=3e-3)
        self.log = {}

    def surrogate_advantage(self, adv_r, adv_c):
        return adv_r

    @torch.no_grad()
    def roll_out(self):
        rows = []
        for _ in range(self.cfg.steps):
            obs = self.env.obs
            dist = self.actor(obs)
            act = dist.sample()
            reward, cost = self.env.step(act)
            rows.append((obs, act, dist.log_prob(act).sum(-1), reward, cost))
        obs, act, logp, reward, cost = (torch.cat(column) for column in zip(*rows, strict=True))
        adv_r = reward - self.reward_critic(obs).squeeze(-1)
        adv_c = cost - self.cost_critic(obs).squeeze(-1)
        adv_r = (adv_r - adv_r.mean()) / (adv_r.std() + 1e-8)
        return obs, act, logp, reward, cost, adv_r, adv_c - adv_c.mean()

    def loss_pi(self, obs, act, logp, adv):
        dist = self.actor(obs)
        ratio = torch.exp(dist.log_prob(act).sum(-1) - logp)
        clipped = torch.clamp(ratio, 1 - self.cfg.algo.clip, 1 + self.cfg.algo.clip)
        loss = -torch.min(ratio * adv, clipped * adv).mean()
        if self.cfg.algo.use_entropy:
            loss += self.cfg.algo.entropy_coef * dist.entropy().sum(-1).mean()  # BUG GS802
        self.log["entropy"] = dist.entropy().mean().item()
        return loss

    def update_actor(self, obs, act, logp, adv):
        loss = self.loss_pi(obs, act, logp, adv)
        self.actor_optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.actor.parameters(), self.cfg.algo.max_grad_norm)
        self.actor_optimizer.step()

    def update_critics(self, obs, reward, cost):
        loss_r = (self.reward_critic(obs).squeeze(-1) - reward).pow(2).mean()
        loss_c = (self.cost_critic(obs).squeeze(-1) - cost).pow(2).mean()
        self.critic_optimizer.zero_grad()
        (loss_r + loss_c).backward()
        self.critic_optimizer.step()

    def update(self):
        obs, act, logp, reward, cost, adv_r, adv_c = self.roll_out()
        adv = self.surrogate_advantage(adv_r, adv_c)
        for _ in range(self.cfg.algo.iters):
            self.update_actor(obs, act, logp, adv)
            self.update_critics(obs, reward, cost)
        self.log |= {"reward": reward.mean().item(), "cost": cost.mean().item()}


class PPOLag(PolicyGradient):
    def __init__(self, cfg):
        super().__init__(cfg)
        self.multiplier = cfg.lagrange.initial

    def surrogate_advantage(self, adv_r, adv_c):
        return (adv_r - self.multiplier * adv_c) / (1 + self.multiplier)

    def update(self):
        super().update()
        raised = self.multiplier + self.cfg.lagrange.lr * (self.log["cost"] - self.cfg.lagrange.limit)
        self.multiplier = max(0.0, raised)


torch.manual_seed(1404)
algo = PPOLag(CFG)
for epoch in range(20):
    algo.update()
    if epoch % 5 == 0:
        print(epoch, {key: round(value, 3) for key, value in algo.log.items()})
