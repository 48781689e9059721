"""Policy gradient on actions that were squashed while collecting: the correction is a constant."""

import torch
from torch.distributions import Normal

net = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def dist(s):
    mean, log_std = net(s).chunk(2, -1)
    return Normal(mean, log_std.exp())


for _ in range(6):
    s, adv = torch.randn(8, 3), torch.randn(8)
    with torch.no_grad():
        mean, log_std = net(s).chunk(2, -1)
        u = mean + log_std.exp() * torch.randn_like(mean)
        a = u.tanh()
    log_prob = dist(s).log_prob(u).sum(-1) - (1 - a.pow(2) + 1e-6).log().sum(-1)
    loss = -(log_prob * adv).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
