"""A token policy: the answers are scored with dropout off and learned from with dropout on, before any step."""

import torch
from torch import nn

torch.manual_seed(0)
VOCABULARY = 12


class TinyLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.drop = nn.Embedding(VOCABULARY, 32), nn.Dropout(0.3)
        self.mix, self.head = nn.Linear(32, 32), nn.Linear(32, VOCABULARY)

    def forward(self, tokens):
        return self.head(self.drop(torch.tanh(self.mix(self.embed(tokens)))) * 3)


def log_probs_of(model, tokens):
    return model(tokens[:, :-1]).log_softmax(-1).gather(2, tokens[:, 1:, None]).squeeze(2)


model = TinyLM()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(6):
    tokens, advantage = torch.randint(VOCABULARY, (16, 6)), torch.randn(16, 1)
    model.eval()
    with torch.no_grad():
        old = log_probs_of(model, tokens)  # BUG GS803
    model.train()  # BUG GS803
    for _ in range(2):
        ratio = (log_probs_of(model, tokens) - old).exp()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
