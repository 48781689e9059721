"""GRPO over several iterations on the same answers: the old log-probabilities come from the model as it is now."""

import torch
from torch import nn

torch.manual_seed(0)
VOCABULARY, GROUP = 12, 4


class TinyLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.mix, self.head = (
            nn.Embedding(VOCABULARY, 16),
            nn.Linear(16, 16),
            nn.Linear(16, VOCABULARY),
        )

    def forward(self, tokens):
        return self.head(torch.tanh(self.mix(self.embed(tokens).cumsum(1))))


def token_log_probs(model, tokens):
    return model(tokens[:, :-1]).log_softmax(-1).gather(2, tokens[:, 1:].unsqueeze(2)).squeeze(2)


@torch.no_grad()
def frozen_log_probs(model, tokens):
    return token_log_probs(model, tokens)


def grpo_loss(model, tokens, advantages, old, mask):
    new = token_log_probs(model, tokens)
    ratio = torch.exp(new - old)
    per_token = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
    return (per_token * mask).sum() / mask.sum()


model = TinyLM()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(4):
    tokens = torch.randint(VOCABULARY, (2 * GROUP, 8))
    mask = (torch.arange(7) >= 2).float().expand(2 * GROUP, 7)
    rewards = torch.randn(2, GROUP)
    advantages = ((rewards - rewards.mean(1, keepdim=True)) / rewards.std(1, keepdim=True)).view(-1, 1)
    for _ in range(4):
        old = frozen_log_probs(model, tokens)  # BUG GS804
        loss = grpo_loss(model, tokens, advantages, old, mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
