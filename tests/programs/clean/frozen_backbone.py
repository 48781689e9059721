"""A pretrained backbone without gradient that no optimizer owns, in evaluation mode."""

import io

import torch
from torch import nn

torch.manual_seed(0)
pretrained = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU())
checkpoint = io.BytesIO()
torch.save(pretrained.state_dict(), checkpoint)
checkpoint.seek(0)
backbone = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU())
backbone.load_state_dict(torch.load(checkpoint, weights_only=True))
backbone.eval()
for parameter in backbone.parameters():
    parameter.requires_grad = False
head = nn.Linear(32, 3)
optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, [*backbone.parameters(), *head.parameters()]))
for _ in range(12):
    obs, action = torch.randn(16, 8), torch.randint(3, (16,))
    loss = nn.functional.cross_entropy(head(backbone(obs)), action)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
