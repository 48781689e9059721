"""Actor cloned, critic fitted to returns under the fixed actor, then actor-critic."""

import torch
from torch import nn


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
        self.pi, self.v = nn.Linear(32, 3), nn.Linear(32, 1)

    def forward(self, s):
        h = self.body(s)
        return torch.distributions.Categorical(logits=self.pi(h)), self.v(h).squeeze(1)


torch.manual_seed(0)
net = ActorCritic()
cloning = torch.optim.Adam([*net.body.parameters(), *net.pi.parameters()], lr=1e-2)
for _ in range(20):
    s = torch.randn(32, 4)
    dist, _ = net(s)
    loss = -dist.log_prob(s[:, :3].argmax(1)).mean()
    cloning.zero_grad()
    loss.backward()
    cloning.step()
fitting = torch.optim.Adam(net.v.parameters(), lr=1e-2)
for _ in range(20):
    s = torch.randn(32, 4)
    with torch.no_grad():
        h = net.body(s)
    loss = (net.v(h).squeeze(1) - s.max(1).values).pow(2).mean()
    fitting.zero_grad()
    loss.backward()
    fitting.step()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for _ in range(40):
    s = torch.randn(32, 4)
    dist, v = net(s)
    a = dist.sample()
    r = s.gather(1, a[:, None]).squeeze(1)
    loss = -(dist.log_prob(a) * (r - v.detach())).mean() + 0.5 * (v - r).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(float(loss))
