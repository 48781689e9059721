"""A squashed Gaussian policy trained by its score function: the sample is drawn inside the loss, and the Jacobian of the
squashing, which is made of the sample alone, is a part of its log-probability."""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
policy_optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)


def act(states):
    mean, log_std = policy(states).chunk(2, dim=-1)
    dist = Normal(mean, log_std.clamp(-5, 2).exp())
    drawn = dist.sample()
    squashed = torch.tanh(drawn)
    log_prob = dist.log_prob(drawn) - torch.log(1 - squashed.pow(2) + 1e-6)
    return squashed, log_prob.sum(-1, keepdim=True), mean


for _ in range(30):
    states = torch.randn(32, 3)
    action, log_prob, mean = act(states)
    value = critic(torch.cat([states, action], dim=-1))

    critic_optimizer.zero_grad()
    (value - torch.randn(32, 1)).pow(2).mean().backward()
    critic_optimizer.step()

    loss = (log_prob * (log_prob - value).detach()).mean() + 1e-3 * mean.pow(2).mean()
    policy_optimizer.zero_grad()
    loss.backward()
    policy_optimizer.step()
