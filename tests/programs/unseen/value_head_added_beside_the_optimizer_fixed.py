"""A value head is attached to a language model after its optimizer was made, and no optimizer owns it.
Repaired here.

Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(389)
VOCAB, WIDTH = 12, 24


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.body = nn.Embedding(VOCAB, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, VOCAB)

    def hidden(self, tokens):
        return torch.tanh(self.body(self.embed(tokens)))


class WithValueHead(nn.Module):
    def __init__(self, lm):
        super().__init__()
        self.lm, self.v_head = lm, nn.Linear(WIDTH, 1)

    def forward(self, tokens):
        hidden = self.lm.hidden(tokens)
        return F.log_softmax(self.lm.head(hidden), -1), self.v_head(hidden).squeeze(-1)


lm = LanguageModel()
model = WithValueHead(lm)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for update in range(100):
    prompt = torch.randint(0, VOCAB, (32,))
    log_probs, value = model(prompt)
    token = torch.distributions.Categorical(logits=log_probs.detach()).sample()
    reward = 1.0 + (token == (prompt + 1) % VOCAB).float()
    chosen = log_probs.gather(-1, token.unsqueeze(-1)).squeeze(-1)
    loss = -(chosen * (reward - value).detach()).mean() + 0.5 * (value - reward).pow(2).mean()
    model.zero_grad()
    loss.backward()
    optimizer.step()
print("value error", (value - reward).abs().mean().item())
