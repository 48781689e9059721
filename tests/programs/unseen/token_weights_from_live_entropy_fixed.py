"""Tokens are weighted by the policy's own entropy at them, and the weight carries its gradient.
Repaired here.

Class: weights
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(179)
VOCAB, WIDTH, LENGTH = 14, 20, 6


class TinyLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.place = nn.Embedding(VOCAB, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.attend = nn.MultiheadAttention(WIDTH, 2, batch_first=True)
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, tokens):
        length = tokens.shape[1]
        x = self.embed(tokens) + self.place(torch.arange(length))
        causal = torch.triu(torch.ones(length, length, dtype=torch.bool), 1)
        return self.head(x + self.attend(x, x, x, attn_mask=causal, need_weights=False)[0])


@torch.no_grad()
def sample(model, batch):
    tokens = torch.randint(0, VOCAB, (batch, 1))
    for _ in range(LENGTH - 1):
        following = torch.multinomial(model(tokens)[:, -1].softmax(-1), 1)
        tokens = torch.cat([tokens, following], 1)
    return tokens


model = TinyLM()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for update in range(60):
    tokens = sample(model, 16)
    reward = (tokens[:, 1:] == 4).float().mean(1)
    advantage = (reward - reward.mean()) / (reward.std() + 1e-4)
    log_probs = F.log_softmax(model(tokens[:, :-1]), -1)
    chosen = log_probs.gather(-1, tokens[:, 1:].unsqueeze(-1)).squeeze(-1)
    entropy = -(log_probs.exp() * log_probs).sum(-1)
    weight = (entropy / entropy.mean(1, keepdim=True)).detach()
    loss = -(weight * advantage.unsqueeze(1) * chosen).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("reward", reward.mean().item())
