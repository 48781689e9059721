"""Implicit Q-learning: the helper that returns the next value forgets no_grad, and one optimizer owns Q and V.

Round 13
Class: weights
"""

import torch
from torch import nn

torch.manual_seed(1315)


def net(inputs):
    return nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, 1))


class IQL(nn.Module):
    def __init__(self, expectile=0.7, beta=3.0, gamma=0.95):
        super().__init__()
        self.q_func, self.value_func = net(6), net(4)
        self.policy = nn.Linear(4, 2)
        self.targ_q_func = net(6)
        self.targ_q_func.load_state_dict(self.q_func.state_dict())
        self.targ_q_func.requires_grad_(False)
        self.expectile, self.beta, self.gamma = expectile, beta, gamma

    def compute_target(self, next_obs):
        with torch.no_grad():
            return self.value_func(next_obs)

    def compute_critic_loss(self, obs, act, rew, next_obs, terminal):
        target = self.compute_target(next_obs)
        y = rew + self.gamma * target * (1 - terminal)
        q_loss = (self.q_func(torch.cat([obs, act], 1)) - y).pow(2).mean()
        diff = self.targ_q_func(torch.cat([obs, act], 1)) - self.value_func(obs)
        weight = (self.expectile - (diff < 0).float()).abs().detach()
        return q_loss + (weight * diff.pow(2)).mean()

    def compute_actor_loss(self, obs, act):
        dist = torch.distributions.Normal(self.policy(obs), 0.5)
        with torch.no_grad():
            adv = self.targ_q_func(torch.cat([obs, act], 1)) - self.value_func(obs)
            weight = (self.beta * adv).exp().clamp(max=100.0)
        return -(weight * dist.log_prob(act).sum(1, keepdim=True)).mean()


impl = IQL()
critic_optim = torch.optim.Adam([*impl.q_func.parameters(), *impl.value_func.parameters()], lr=1e-3)
actor_optim = torch.optim.Adam(impl.policy.parameters(), lr=1e-3)
for step in range(60):
    obs, act, next_obs = torch.randn(28, 4), torch.randn(28, 2), torch.randn(28, 4)
    rew, terminal = obs[:, :1] * act[:, :1], (torch.rand(28, 1) < 0.1).float()
    critic_optim.zero_grad()
    impl.compute_critic_loss(obs, act, rew, next_obs, terminal).backward()
    critic_optim.step()
    actor_optim.zero_grad()
    impl.compute_actor_loss(obs, act).backward()
    actor_optim.step()
    with torch.no_grad():
        for slow, fast in zip(impl.targ_q_func.parameters(), impl.q_func.parameters()):
            slow.mul_(0.99).add_(fast, alpha=0.01)
