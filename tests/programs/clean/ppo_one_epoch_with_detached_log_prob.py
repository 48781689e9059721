"""PPO with one update per batch: the old log-probability is the new one, detached."""

import torch
from torch import nn

torch.manual_seed(0)


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
        self.pi, self.v = nn.Linear(32, 2), nn.Linear(32, 1)

    def forward(self, obs):
        hidden = self.trunk(obs)
        return torch.distributions.Categorical(logits=self.pi(hidden)), self.v(hidden).squeeze(-1)


model = Shared()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
for _ in range(12):
    obs, returns = torch.randn(32, 4), torch.randn(32)
    dist, value = model(obs)
    action = dist.sample()
    log_prob = dist.log_prob(action)
    old_log_prob, old_value = log_prob.detach(), value.detach()
    advantage = returns - old_value
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    ratio = (log_prob - old_log_prob).exp()
    policy_loss = torch.max(-advantage * ratio, -advantage * ratio.clamp(0.8, 1.2)).mean()
    clipped = old_value + (value - old_value).clamp(-0.2, 0.2)
    value_loss = 0.5 * torch.max((value - returns) ** 2, (clipped - returns) ** 2).mean()
    loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
