"""A compiled PPO loss, and a policy that is not compiled."""

# fresh
import torch
from torch import nn


@torch.compile
def ppo_loss(logp, old, advantage):
    ratio = (logp - old).exp()
    return -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()


torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
for _ in range(10):
    states = torch.randn(32, 4)
    with torch.no_grad():
        dist = torch.distributions.Categorical(logits=policy(states))
        actions = dist.sample()
        old = dist.log_prob(actions)
    advantage = torch.where(actions == 1, 1.0, -0.5)
    for _ in range(3):
        logp = torch.distributions.Categorical(logits=policy(states)).log_prob(actions)
        loss = ppo_loss(logp, old, advantage)
        opt.zero_grad()
        loss.backward()
        opt.step()
print(float(loss))
