"""The old log-probabilities are computed again in every epoch, by the weights that have just been trained.
Repaired here.

Round 5
Class: llm-rl
"""

import torch
from torch import nn

torch.manual_seed(520)

model = nn.Sequential(nn.Embedding(12, 24), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 12))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)


def answer_log_probs(ids):
    return torch.log_softmax(model(ids[:, :-1]), -1).gather(2, ids[:, 1:].unsqueeze(2)).squeeze(2)


for update in range(15):
    ids = torch.randint(12, (16, 8))
    reward = (ids[:, 1:] % 2 == 0).float().mean(1)
    advantage = ((reward - reward.mean()) / (reward.std() + 1e-4)).unsqueeze(1)
    with torch.no_grad():
        old = answer_log_probs(ids)
    for epoch in range(4):
        new = answer_log_probs(ids)
        ratio = (new - old).exp()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
