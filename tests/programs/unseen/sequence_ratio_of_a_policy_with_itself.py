"""A sequence-level ratio takes its old log-probs from a fresh forward of the same policy with gradients on.

Class: weights
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(193)
VOCAB, LENGTH, GROUP = 10, 5, 16


class TokenPolicy(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, VOCAB)

    def forward(self, tokens):
        return self.head(self.gru(self.embed(tokens))[0])


def sequence_log_prob(policy, tokens):
    log_probs = F.log_softmax(policy(tokens[:, :-1]), -1)
    return log_probs.gather(-1, tokens[:, 1:].unsqueeze(-1)).squeeze(-1).mean(1)


@torch.no_grad()
def generate(policy):
    tokens = torch.zeros(GROUP, 1, dtype=torch.long)
    for _ in range(LENGTH):
        tokens = torch.cat([tokens, torch.multinomial(policy(tokens)[:, -1].softmax(-1), 1)], 1)
    return tokens


policy = TokenPolicy()
optimizer = torch.optim.Adam(policy.parameters(), lr=2e-3)
for update in range(60):
    tokens = generate(policy)
    reward = (tokens[:, 1:] == 3).float().mean(1)
    advantage = (reward - reward.mean()) / (reward.std() + 1e-4)
    old = sequence_log_prob(policy, tokens)  # BUG GS209
    ratio = (sequence_log_prob(policy, tokens) - old).exp()
    loss = -torch.min(ratio * advantage, ratio.clamp(0.9, 1.1) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("reward", reward.mean().item())
