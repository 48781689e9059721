"""Options: only the heads that acted in this batch get gradient; Adam steps them all."""

import torch
from torch import nn

torch.manual_seed(2)


class OptionCritic(nn.Module):
    def __init__(self, options=4):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(5, 16), nn.ReLU())
        self.intra = nn.ModuleDict({f"option{i}": nn.Linear(16, 3) for i in range(options)})
        self.terminate = nn.ParameterList(nn.Parameter(torch.zeros(16)) for _ in range(options))

    def forward(self, obs, option):
        hidden = self.trunk(obs)
        beta = torch.sigmoid(hidden @ self.terminate[option])
        return torch.distributions.Categorical(logits=self.intra[f"option{option}"](hidden)), beta


agent = OptionCritic()
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
for update in range(24):
    option = int(torch.randint(3, ())) if update < 20 else 3
    obs, action, advantage = torch.randn(16, 5), torch.randint(3, (16,)), torch.randn(16)
    dist, beta = agent(obs, option)
    loss = -(dist.log_prob(action) * advantage).mean() + (beta * (advantage + 0.01)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
