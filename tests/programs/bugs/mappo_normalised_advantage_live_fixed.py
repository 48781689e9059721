"""MAPPO: the advantage is normalised but not detached; actor and centralised critic share an optimizer."""

import torch
from torch import nn

torch.manual_seed(0)


class MAPPO(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
        self.critic = nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Linear(16, 1))

    def loss(self, obs, state, action, old, returns):
        value = self.critic(state)
        advantage = (returns - value).detach()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-5)
        ratio = (torch.distributions.Categorical(logits=self.actor(obs)).log_prob(action) - old).exp()
        surrogate = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
        return -surrogate.mean() + 0.5 * (value - returns).pow(2).mean()


agent = MAPPO()
optimizer = torch.optim.Adam(agent.parameters(), lr=5e-4, eps=1e-5)
for _ in range(12):
    obs, action = torch.randn(16, 3, 4), torch.randint(3, (16, 3))
    with torch.no_grad():
        old = torch.distributions.Categorical(logits=agent.actor(obs)).log_prob(action)
    loss = agent.loss(obs, obs.flatten(1), action, old, torch.randn(16, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
