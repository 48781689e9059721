"""Two parameter groups by name; whatever matches neither is never stepped."""

import torch
from torch import nn

torch.manual_seed(0)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 16)
        self.policy = nn.Linear(16, 2)
        self.value = nn.Linear(16, 1)

    def forward(self, obs):
        hidden = torch.relu(self.encoder(obs))
        return torch.distributions.Categorical(logits=self.policy(hidden)), self.value(hidden).squeeze(-1)


model = ActorCritic()
slow = [p for name, p in model.named_parameters() if name.startswith("encoder")]
fast = [p for name, p in model.named_parameters() if name.startswith("policy")]  # BUG GS205
optimizer = torch.optim.Adam([{"params": slow, "lr": 1e-4}, {"params": fast}], lr=1e-3)  # BUG GS205
for _ in range(15):
    obs, returns = torch.randn(16, 4), torch.randn(16)
    dist, value = model(obs)
    action = dist.sample()
    advantage = returns - value.detach()
    loss = -(dist.log_prob(action) * advantage).mean() + 0.5 * (value - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
