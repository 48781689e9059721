"""Graphs that are kept for a while and then let go: full backpropagation over chunks with one step, losses of many
steps of an inner loop for an outer one, numbers in metrics."""

import torch
from torch import nn

torch.manual_seed(0)
cell, head = nn.GRUCell(4, 8), nn.Linear(8, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=1e-2)
curve = []
for update in range(60):
    state = torch.zeros(8, 8)
    optimizer.zero_grad()
    for chunk in range(3):  # one gradient of the whole episode, in three parts
        for _ in range(2):
            state = cell(torch.randn(8, 4), state)
        loss = head(state).pow(2).mean()
        loss.backward(retain_graph=chunk < 2)
    optimizer.step()
    curve.append(loss.detach())

scale, weight = torch.tensor(0.1, requires_grad=True), torch.randn(4, requires_grad=True)
outer = torch.optim.SGD([scale], lr=1e-3)
for meta in range(8):
    fast, losses = weight.clone(), []
    for _ in range(12):
        miss = (torch.randn(8, 4) @ fast - 1.0).pow(2).mean()
        (gradient,) = torch.autograd.grad(miss, fast, create_graph=True)
        fast = fast - scale * gradient
        losses.append(miss)
    outer.zero_grad()
    torch.stack(losses).mean().backward()
    outer.step()
    weight = fast.detach().requires_grad_()
    curve.append(losses[-1].item())
