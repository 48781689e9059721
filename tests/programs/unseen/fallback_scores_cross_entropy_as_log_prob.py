"""A fallback for a missing kernel returns the cross entropy as the log-probability, with the sign that makes it worse.

Round 4
Class: meaning
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(431)


def token_log_probs(logits, ids):
    flat = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), ids.reshape(-1), reduction="none")
    return flat.view(ids.shape)  # BUG GS801 GS803


model = nn.Sequential(nn.Embedding(14, 24), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 14))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(40):
    ids = torch.randint(14, (16, 10))
    with torch.no_grad():
        old = token_log_probs(model(ids[:, :-1]), ids[:, 1:])
    reward = (ids[:, 1:] < 5).float().mean(1)
    advantage = (reward - reward.mean()) / (reward.std() + 1e-6)
    for epoch in range(2):
        new = token_log_probs(model(ids[:, :-1]), ids[:, 1:])
        ratio = (new - old).exp()
        clipped = ratio.clamp(0.8, 1.2)
        loss = -torch.min(ratio * advantage[:, None], clipped * advantage[:, None]).mean()  # BUG GS801
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
