"""Where the distribution has no entropy of its own, the log-probabilities stand in for it, with their sign lost.

Round 13
Class: meaning
"""

import torch
from torch import nn
from torch.distributions import Normal, TransformedDistribution
from torch.distributions.transforms import TanhTransform

torch.manual_seed(1302)


class SquashedPolicy(nn.Module):
    def __init__(self, obs=4, act=2):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(obs, 32), nn.Tanh(), nn.Linear(32, act))
        self.vf = nn.Sequential(nn.Linear(obs, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.zeros(act))

    def distribution(self, obs):
        return TransformedDistribution(Normal(self.pi(obs), self.log_std.exp()), TanhTransform(cache_size=1))

    def evaluate(self, obs, actions):
        dist = self.distribution(obs)
        log_prob = dist.log_prob(actions.clamp(-0.999, 0.999)).sum(-1)
        try:
            entropy = dist.entropy()
        except NotImplementedError:
            entropy = None
        return self.vf(obs).squeeze(-1), log_prob, entropy


policy = SquashedPolicy()
optimizer = torch.optim.RMSprop(policy.parameters(), lr=7e-4)
state = torch.randn(16, 4)
for update in range(60):
    observations, actions, rewards = [], [], []
    for _ in range(5):
        with torch.no_grad():
            action = policy.distribution(state).sample()
        observations.append(state)
        actions.append(action)
        rewards.append(-(action - state[:, :2].tanh()).pow(2).sum(-1))
        state = 0.9 * state + 0.3 * torch.randn(16, 4)
    with torch.no_grad():
        running = policy.vf(state).squeeze(-1)
    returns = []
    for reward in reversed(rewards):
        running = reward + 0.9 * running
        returns.insert(0, running)
    obs, act, ret = torch.cat(observations), torch.cat(actions), torch.cat(returns)
    values, log_prob, entropy = policy.evaluate(obs, act)
    advantages = (ret - values).detach()
    policy_loss = -(advantages * log_prob).mean()
    value_loss = (ret - values).pow(2).mean()
    if entropy is None:
        entropy = -log_prob
    loss = policy_loss - 0.05 * entropy.mean() + 0.5 * value_loss
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
    optimizer.step()
