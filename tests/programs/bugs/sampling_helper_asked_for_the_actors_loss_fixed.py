"""The wrapper's sample is right for acting and wrong here, where the actor is to learn through the action."""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)


class Gaussian:
    def __init__(self, mean):
        self.inner = Normal(mean, 0.5)

    def sample(self):
        return self.inner.sample()

    def rsample(self):
        return self.inner.rsample()

    def actions(self, differentiable):
        return self.rsample() if differentiable else self.sample()


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))

    def distribution(self, obs):
        return Gaussian(self.net(obs))

    def act(self, obs, differentiable=False):
        return self.distribution(obs).actions(differentiable)


policy, critic = Policy(), nn.Linear(4, 1)
policy_optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)


def rollout():
    obs = torch.randn(32, 3)
    with torch.no_grad():
        action = policy.act(obs)
    return obs, action, torch.randn(32, 1)


for update in range(20):
    obs, action, reward = rollout()
    critic_loss = nn.functional.mse_loss(critic(torch.cat([obs, action], 1)), reward)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    new = policy.act(obs, differentiable=True)
    policy_loss = 1e-3 * policy.net(obs).pow(2).mean() - critic(torch.cat([obs, new], 1)).mean()
    policy_optimizer.zero_grad()
    policy_loss.backward()
    policy_optimizer.step()
