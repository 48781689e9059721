"""Token policy with gradient accumulation: the gradients are cleared before each micro-batch, so only the
last one reaches the step.

Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(349)
VOCAB, LENGTH, MICRO = 12, 6, 4


class Policy(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embed, self.mix = nn.Embedding(VOCAB, width), nn.Linear(width, width)
        self.head = nn.Linear(width, VOCAB)

    def forward(self, tokens):
        return self.head(torch.tanh(self.mix(self.embed(tokens))))


def log_prob(model, tokens, answer):
    return F.log_softmax(model(tokens), -1).gather(-1, answer.unsqueeze(-1)).squeeze(-1)


model = Policy()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for update in range(50):
    prompts = torch.randint(0, VOCAB, (16, LENGTH))
    with torch.no_grad():
        answers = torch.distributions.Categorical(logits=model(prompts)).sample()
    rewards = (answers == (prompts + 5) % VOCAB).float()
    advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
    for rows in torch.arange(16).chunk(MICRO):
        optimizer.zero_grad()  # BUG GS405
        chosen = log_prob(model, prompts[rows], answers[rows])
        loss = -(advantages[rows] * chosen).mean() / MICRO
        loss.backward()
    optimizer.step()
print("reward", rewards.mean().item())
