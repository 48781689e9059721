"""A3C in one process: local copies compute gradients, which are handed to the shared network."""

import torch
from torch import nn

torch.manual_seed(0)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk, self.pi, self.v = nn.Linear(4, 16), nn.Linear(16, 2), nn.Linear(16, 1)

    def forward(self, obs):
        hidden = torch.tanh(self.trunk(obs))
        return torch.distributions.Categorical(logits=self.pi(hidden)), self.v(hidden).squeeze(-1)


shared, workers = ActorCritic(), [ActorCritic() for _ in range(2)]
optimizer = torch.optim.RMSprop(shared.parameters(), lr=1e-3)
for _ in range(8):
    for local in workers:
        local.load_state_dict(shared.state_dict())
        obs, returns = torch.randn(8, 4), torch.randn(8)
        dist, value = local(obs)
        action = dist.sample()
        loss = -(dist.log_prob(action) * (returns - value).detach()).mean()
        loss = loss + 0.5 * (returns - value).pow(2).mean()
        local.zero_grad()
        loss.backward()
        for mine, theirs in zip(local.parameters(), shared.parameters()):
            theirs.grad = mine.grad.clone()
        optimizer.step()
