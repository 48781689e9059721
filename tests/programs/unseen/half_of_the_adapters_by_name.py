"""The adapters of a frozen token model are chosen by a name that only one of their two factors has.

Round 9
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(922)
VOCAB = 16


class Adapted(nn.Module):
    def __init__(self, size, out, rank=4):
        super().__init__()
        self.base = nn.Linear(size, out).requires_grad_(False)
        self.lora_down = nn.Parameter(torch.randn(rank, size) * 0.1)
        self.lora_up = nn.Parameter(torch.zeros(out, rank))

    def forward(self, x):
        return self.base(x) + x @ self.lora_down.t() @ self.lora_up.t()


model = nn.Sequential(
    nn.Embedding(VOCAB, 24).requires_grad_(False), Adapted(24, 24), nn.Tanh(), Adapted(24, VOCAB)
)
trained = [p for name, p in model.named_parameters() if "lora_up" in name]  # BUG GS205
optimizer = torch.optim.AdamW(trained, lr=3e-3)  # BUG GS205
for update in range(60):
    tokens = torch.randint(VOCAB, (24, 7))
    logits = model(tokens[:, :-1])
    logp = F.log_softmax(logits, -1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
    reward = (tokens[:, 1:] == 3).float().sum(1)
    advantage = (reward - reward.mean()) / (reward.std() + 1e-4)
    loss = -(logp * advantage[:, None]).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(trained, 1.0)
    optimizer.step()
