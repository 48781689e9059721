"""The whole model is cast to bfloat16 after its adapters were put in, and trained with the rate that suits a full
model. (After TRL issue 2872.)"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
VOCAB = 12


class Adapted(nn.Module):
    def __init__(self, base, rank=4):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(rank, base.in_features))
        self.lora_B = nn.Parameter(0.5 * torch.randn(base.out_features, rank))  # resumed from a checkpoint

    def forward(self, x):
        low = x.to(self.lora_A.dtype) @ self.lora_A.T @ self.lora_B.T
        return self.base(x) + low.to(x.dtype)


model = nn.Sequential(nn.Embedding(VOCAB, 16).requires_grad_(False), Adapted(nn.Linear(16, 16)), nn.Tanh())
model.append(Adapted(nn.Linear(16, VOCAB)))
model = model.to(torch.bfloat16)
adapters = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(adapters, lr=5e-7, weight_decay=0.0)  # BUG GS508
for _ in range(40):
    tokens = torch.randint(VOCAB, (8, 6))
    advantages = torch.randn(8, 1)
    logp = model(tokens[:, :-1]).float().log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
    loss = -(advantages * logp).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
