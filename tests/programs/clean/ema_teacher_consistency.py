"""A mean teacher: averaged weights, consistency loss, buffers copied."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad_(False)
predictor = nn.Linear(4, 4)
optimizer = torch.optim.SGD([*student.parameters(), *predictor.parameters()], lr=0.05, momentum=0.9)
for _ in range(14):
    x = torch.randn(32, 6)
    one, two = x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)
    a = nn.functional.normalize(predictor(student(one)), dim=-1)
    b = nn.functional.normalize(teacher(two), dim=-1)
    loss = 2 - 2 * (a * b).sum(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    state = student.state_dict()
    for name, value in teacher.state_dict().items():
        if value.dtype.is_floating_point:
            value.mul_(0.99).add_(state[name], alpha=0.01)
        else:
            value.copy_(state[name])
