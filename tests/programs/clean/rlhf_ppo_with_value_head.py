"""RLHF PPO on tokens: shared body, masked whitening, KL-shaped reward, several epochs, accumulation."""

import copy

import torch
from torch import nn

torch.manual_seed(0)


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Embedding(12, 16), nn.Linear(16, 16), nn.GELU())
        self.lm, self.value = nn.Linear(16, 12), nn.Linear(16, 1)

    def forward(self, tokens):
        hidden = self.body(tokens)
        return self.lm(hidden), self.value(hidden).squeeze(-1)


def picked(logits, tokens):
    return logits.log_softmax(-1).gather(-1, tokens[..., None]).squeeze(-1)


model = LM()
reference = copy.deepcopy(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(4):
    tokens = torch.randint(12, (8, 9))
    x, y = tokens[:, :-1], tokens[:, 1:]
    mask = (torch.arange(8) < torch.randint(3, 9, (8, 1))).float()
    with torch.no_grad():
        logits, values = model(x)
        old, ref = picked(logits, y), picked(reference(x)[0], y)
        rewards = -0.05 * (old - ref) * mask
        rewards[:, -1] += torch.randn(8)
        last, out = torch.zeros(8), []
        for t in reversed(range(8)):
            after = values[:, t + 1] if t < 7 else 0.0
            last = rewards[:, t] + after - values[:, t] + 0.95 * last
            out.append(last)
        advantage = torch.stack(out[::-1], 1)
        returns = advantage + values
        mean = (advantage * mask).sum() / mask.sum()
        var = ((advantage - mean).pow(2) * mask).sum() / mask.sum()
        advantage = (advantage - mean) * torch.rsqrt(var + 1e-8)
    for _ in range(2):
        optimizer.zero_grad()
        for rows in torch.arange(8).split(4):
            logits, new_values = model(x[rows])
            ratio = (picked(logits, y[rows]) - old[rows]).exp()
            m, a = mask[rows], advantage[rows]
            pg = torch.max(-a * ratio, -a * ratio.clamp(0.8, 1.2))
            clipped = values[rows] + (new_values - values[rows]).clamp(-0.2, 0.2)
            vf = torch.max((new_values - returns[rows]) ** 2, (clipped - returns[rows]) ** 2)
            loss = ((pg + 0.1 * vf) * m).sum() / mask.sum()
            loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
