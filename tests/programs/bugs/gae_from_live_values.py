"""PPO with a shared trunk: GAE is accumulated from live values and weights the ratio."""

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


def gae(rewards, values, gamma=0.98, lam=0.9):
    running, out = 0.0, []
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + gamma * values[t + 1] - values[t]  # BUG GS303
        running = delta + gamma * lam * running  # BUG GS303
        out.insert(0, running)
    return torch.stack(out)  # BUG GS303


model = Shared()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
for _ in range(10):
    obs, rewards = torch.randn(9, 6, 4), torch.randn(8, 6)
    dist, values = model(obs)
    action = dist.sample()
    old = dist.log_prob(action).detach()[:-1] + 0.01 * torch.randn(8, 6)
    advantage = gae(rewards, values)  # BUG GS303
    ratio = (dist.log_prob(action)[:-1] - old).exp()
    policy_loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
    value_loss = (values[:-1] - (advantage + values[:-1]).detach()).pow(2).mean()
    loss = policy_loss + 0.5 * value_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
