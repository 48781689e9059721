"""Copies of one network learn for a step each; their mean gradient moves the original, by hand."""

import copy

import torch
from torch import nn

shared = nn.Linear(3, 1)
for i in range(30):
    ws = [copy.deepcopy(shared) for _ in range(2)]
    for w in ws:
        (w(torch.randn(8, 3)) - 1).pow(2).mean().backward()
    with torch.no_grad():
        for i, p in enumerate(shared.parameters()):
            g = torch.stack([list(w.parameters())[i].grad for w in ws]).mean(0)
            p.sub_(0.1 * g)
