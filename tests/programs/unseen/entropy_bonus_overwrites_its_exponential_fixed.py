"""The entropy bonus multiplies the probabilities in place by their logarithm, although the exponential needs
them for its backward.
Repaired here.

Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(401)
VOCAB, LENGTH = 14, 5


class Policy(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embed, self.head = nn.Embedding(VOCAB, width), nn.Linear(width, VOCAB)

    def forward(self, tokens):
        return F.log_softmax(self.head(torch.tanh(self.embed(tokens))), -1)


def entropy_from(log_probs):
    probs = log_probs.exp()
    probs = probs * log_probs
    return -probs.sum(-1)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
for update in range(80):
    tokens = torch.randint(0, VOCAB, (16, LENGTH))
    log_probs = policy(tokens)
    answer = torch.distributions.Categorical(logits=log_probs.detach()).sample()
    reward = (answer == (tokens + 1) % VOCAB).float()
    chosen = log_probs.gather(-1, answer.unsqueeze(-1)).squeeze(-1)
    loss = -((reward - reward.mean()) * chosen).mean() - 0.01 * entropy_from(log_probs).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("reward", reward.mean().item())
