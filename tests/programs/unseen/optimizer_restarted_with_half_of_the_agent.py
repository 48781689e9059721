"""A warm restart builds the optimizer anew, and leaves the policy's own head out of it.

Round 4
Class: late and rare
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(414)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(5, 32), nn.Tanh())
        self.actor = nn.Linear(32, 3)
        self.critic = nn.Linear(32, 1)

    def forward(self, obs):
        hidden = self.trunk(obs)
        return Categorical(logits=self.actor(hidden)), self.critic(hidden).squeeze(-1)


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3)
for update in range(90):
    if update == 45:
        kept = [*agent.trunk.parameters(), *agent.critic.parameters()]  # BUG GS205
        optimizer = torch.optim.Adam(kept, lr=1e-3)  # BUG GS205
    obs = torch.randn(40, 5)
    dist, value = agent(obs)
    action = dist.sample()
    reward = (action == obs[:, :3].argmax(-1)).float()
    advantage = (reward - value).detach()
    loss = -(dist.log_prob(action) * advantage).mean() + 0.5 * (value - reward).pow(2).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
