"""The token loss is normalised over the whole accumulation window and then divided by the number of
micro-batches once more.

Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(359)
VOCAB, LENGTH, STEPS = 10, 8, 4
model = nn.Sequential(nn.Embedding(VOCAB, 24), nn.Linear(24, 24), nn.GELU(), nn.Linear(24, VOCAB))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)


def window():
    """Micro-batches of tokens, answers and masks of uneven length."""
    batches = []
    for _ in range(STEPS):
        tokens = torch.randint(0, VOCAB, (4, LENGTH))
        mask = (torch.arange(LENGTH) < torch.randint(2, LENGTH + 1, (4, 1))).float()
        batches.append((tokens, (tokens * 3 + 1) % VOCAB, mask))
    return batches


def token_loss(tokens, answers):
    logits = model(tokens)
    return F.cross_entropy(logits.flatten(0, 1), answers.flatten(), reduction="none").view_as(tokens)


for update in range(60):
    batches = window()
    items = sum(mask.sum() for _, _, mask in batches)
    optimizer.zero_grad()
    total = 0.0
    for tokens, answers, mask in batches:
        loss = (token_loss(tokens, answers) * mask).sum() / items
        (loss / STEPS).backward()  # BUG GS407
        total += loss.item()
    optimizer.step()
print("loss", total)
