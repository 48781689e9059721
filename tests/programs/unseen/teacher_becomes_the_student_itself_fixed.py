"""Self-distillation: at the end of a phase the student becomes the next teacher, by reference.
Repaired here.

Round 4
Class: late and rare
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(415)

student = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 4))
teacher = copy.deepcopy(student).requires_grad_(False)
optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
for update in range(120):
    if update and update % 40 == 0:
        teacher = copy.deepcopy(student).requires_grad_(False)
    obs = torch.randn(48, 6)
    logits = student(obs)
    action = torch.distributions.Categorical(logits=logits).sample()
    reward = (action == obs[:, :4].argmax(-1)).float()
    logp = F.log_softmax(logits, -1)
    guide = F.log_softmax(teacher(obs), -1)
    loss = -(logp.gather(1, action[:, None]).squeeze(1) * (reward - reward.mean())).mean()
    loss = loss + 0.5 * (guide.exp() * (guide - logp)).sum(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
