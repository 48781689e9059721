"""Mixed precision: the gradient is clipped while it still carries the loss scale, so the limit is thousands
of times too small.

Class: llm-rl
"""

import torch
from torch import nn

torch.manual_seed(367)


class ValueModel(nn.Module):
    def __init__(self, vocab=16, width=24):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.body = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, 1)

    def forward(self, tokens):
        return self.head(self.body(self.embed(tokens)).mean(1)).squeeze(-1)


model = ValueModel()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
scaler = torch.amp.GradScaler("cpu", init_scale=4096.0)
for update in range(120):
    tokens = torch.randint(0, 16, (32, 6))
    returns = (tokens == 3).float().sum(1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        values = model(tokens)
    loss = (values.float() - returns).pow(2).mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # BUG GS507
    scaler.step(optimizer)
    scaler.update()
print("loss", loss.item())
