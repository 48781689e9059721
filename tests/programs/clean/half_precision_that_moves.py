"""Weights in half precision that do move, or rightly do not: rounded at random, with masters, warmed up."""

import torch
from torch import nn

torch.manual_seed(0)


class RoundingSGD(torch.optim.Optimizer):
    """Plain descent that rounds up or down at random, so that small steps count on average."""

    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                wanted = p.float() - group["lr"] * p.grad.float()
                bits = wanted.view(torch.int32) + torch.randint_like(p, 1 << 16, dtype=torch.int32)
                p.copy_((bits & -65536).view(torch.float32))


class MasterSGD(torch.optim.Optimizer):
    """Plain descent on float32 copies of the weights, which it keeps in its state."""

    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                master = self.state[p].setdefault("master", p.detach().float())
                master -= group["lr"] * p.grad.float()
                p.copy_(master)


def loss_of(net):
    obs, returns = torch.randn(16, 8).bfloat16(), torch.randn(16)
    return (net(obs).squeeze(-1).float() - returns).pow(2).mean()


rounded, warmed, late, mastered = (nn.Linear(8, 1).bfloat16() for _ in range(4))
body = nn.Linear(8, 8).bfloat16().requires_grad_(False)
rounding = RoundingSGD(rounded.parameters(), lr=1e-4)
warming = torch.optim.Adam(warmed.parameters(), lr=1e-2)
schedule = torch.optim.lr_scheduler.LambdaLR(warming, lambda i: (i / 30) ** 4)
waiting = torch.optim.SGD(late.parameters(), lr=0.1)
schedule_of_late = torch.optim.lr_scheduler.LambdaLR(waiting, lambda i: float(i >= 25))
owning = MasterSGD(mastered.parameters(), lr=1e-6)
for _ in range(40):
    for net, optimizer in ((rounded, rounding), (warmed, warming), (late, waiting), (mastered, owning)):
        optimizer.zero_grad()
        loss_of(nn.Sequential(body, net)).backward()
        optimizer.step()
    schedule.step()
    schedule_of_late.step()
