"""A hand-made natural gradient asks for the derivative of the policy loss by every parameter of a network
whose value head takes no part in that loss.

Class: forward errors
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(17)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 24), nn.Tanh())
        self.policy, self.value = nn.Linear(24, 3), nn.Linear(24, 1)

    def forward(self, obs):
        hidden = self.trunk(obs)
        return Categorical(logits=self.policy(hidden)), self.value(hidden).squeeze(-1)

    def actor_parameters(self):
        return [*self.trunk.parameters(), *self.policy.parameters()]


net = ActorCritic()
value_opt = torch.optim.Adam(net.value.parameters(), lr=1e-2)
for update in range(80):
    obs = torch.randn(64, 4)
    dist, value = net(obs)
    action = dist.sample()
    reward = (action == obs[:, :3].argmax(-1)).float()
    advantage = (reward - value).detach()
    surrogate = (dist.log_prob(action) * advantage).mean()
    parameters = list(net.parameters())  # BUG GS201 GS202 GS204
    gradient = torch.autograd.grad(surrogate, parameters)  # BUG GS201 GS202 GS204
    norm = torch.sqrt(sum(g.pow(2).sum() for g in gradient))
    with torch.no_grad():
        for p, g in zip(parameters, gradient):
            p.add_(0.1 * g / (norm + 1e-8))

    value_loss = (net.value(net.trunk(obs).detach()).squeeze(-1) - reward).pow(2).mean()
    value_opt.zero_grad()
    value_loss.backward()
    value_opt.step()
print("reward", reward.mean().item())
