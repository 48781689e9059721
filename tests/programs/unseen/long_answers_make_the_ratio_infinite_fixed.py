"""A sequence-level ratio: the exponent of a sum over a long answer is not limited.
Repaired here.

Round 4
Class: magnitude
"""

import torch
from torch import nn

torch.manual_seed(424)

vocab, length = 20, 400
embed, head = nn.Embedding(vocab, 16), nn.Linear(16, vocab)
optimizer = torch.optim.SGD([*embed.parameters(), *head.parameters()], lr=0.5)
prompts = torch.randint(vocab, (6, length + 1))
with torch.no_grad():
    old = torch.log_softmax(head(embed(prompts[:, :-1])), -1).gather(2, prompts[:, 1:, None]).squeeze(2)
advantage = torch.tensor([1.0, -1.0, 0.5, -0.5, 1.0, -1.0])
for update in range(60):
    new = torch.log_softmax(head(embed(prompts[:, :-1])), -1).gather(2, prompts[:, 1:, None]).squeeze(2)
    log_ratio = (new - old).sum(1)
    ratio = log_ratio.clamp(-5.0, 5.0).exp()
    surrogate = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
    loss = -surrogate.mean() - 0.2 * new.mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_([*embed.parameters(), *head.parameters()], 5.0)
    optimizer.step()
