"""An off-policy actor-critic: the truncated importance weight multiplies the log-probability and is live itself.

Round 4
Class: weights
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(417)


class Impala(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(5, 32), nn.ReLU())
        self.pi, self.vf = nn.Linear(32, 4), nn.Linear(32, 1)

    def forward(self, obs):
        hidden = self.trunk(obs)
        return Categorical(logits=self.pi(hidden)), self.vf(hidden).squeeze(-1)


def vtrace(ratio, values, rewards, gamma=0.95):
    rho = ratio.clamp(max=1.0)
    errors = rho[:-1] * (rewards[:-1] + gamma * values[1:] - values[:-1])
    out, carry = [], torch.zeros_like(values[0])
    for t in reversed(range(len(errors))):
        carry = errors[t] + gamma * rho[t] * carry
        out.append(values[t] + carry)
    return torch.stack(out[::-1]), rho


net = Impala()
optimizer = torch.optim.RMSprop(net.parameters(), lr=5e-4)
for update in range(40):
    obs = torch.randn(12, 8, 5)
    with torch.no_grad():
        behaviour = Categorical(logits=net(obs)[0].logits + 0.3 * torch.randn(12, 8, 4))
        action = behaviour.sample()
        old = behaviour.log_prob(action)
    rewards = (action == obs[..., :4].argmax(-1)).float()
    dist, values = net(obs)
    logp = dist.log_prob(action)
    goals, rho = vtrace((logp - old).exp().detach(), values.detach(), rewards)
    weight = (logp - old).exp().clamp(max=1.0)[:-1]  # BUG GS303
    loss = -(weight * logp[:-1] * (goals - values[:-1].detach())).mean()
    loss = loss + 0.5 * (values[:-1] - goals).pow(2).mean() - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
