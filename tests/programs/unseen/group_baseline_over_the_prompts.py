"""Group-relative advantages are taken over the prompts at the same place in their groups, not over a group.

Class: axes
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(97)
PROMPTS, GROUP, VOCAB = 8, 6, 10


class Answerer(nn.Module):
    def __init__(self):
        super().__init__()
        self.prompt = nn.Embedding(VOCAB, 24)
        self.head = nn.Linear(24, VOCAB)

    def forward(self, prompt):
        return F.log_softmax(self.head(torch.tanh(self.prompt(prompt))), -1)


def score(prompt, answer):
    """Some prompts are easy: they pay for anything."""
    right = (answer == (prompt + 1) % VOCAB).float()
    return right + (prompt % 3).float()


def advantages(rewards):
    mean, std = rewards.mean(0, keepdim=True), rewards.std(0, keepdim=True)  # BUG GS604
    return (rewards - mean) / (std + 1e-4)


model = Answerer()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for update in range(120):
    prompt = torch.randint(0, VOCAB, (PROMPTS, 1)).expand(PROMPTS, GROUP)
    log_probs = model(prompt)
    answer = torch.distributions.Categorical(logits=log_probs.detach()).sample()
    rewards = score(prompt, answer)
    chosen = log_probs.gather(-1, answer.unsqueeze(-1)).squeeze(-1)
    loss = -(advantages(rewards) * chosen).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("right", (answer == (prompt + 1) % VOCAB).float().mean().item())
