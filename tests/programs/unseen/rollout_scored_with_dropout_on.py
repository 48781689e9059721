"""Group-relative training of a token policy: the old log-probabilities are taken with dropout, which is other each time.

Round 8
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(823)
VOCAB, GROUP, LENGTH = 16, 12, 6


class TokenPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 32)
        self.rnn = nn.GRU(32, 32, batch_first=True)
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(32, VOCAB)

    def forward(self, tokens):
        return self.head(self.drop(self.rnn(self.embed(tokens))[0]))


def score(policy, tokens):
    logp = F.log_softmax(policy(tokens[:, :-1]), -1)
    return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)


policy = TokenPolicy()
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
for update in range(30):
    tokens = torch.zeros(GROUP, 1, dtype=torch.long)
    with torch.no_grad():
        for _ in range(LENGTH):
            logits = policy(tokens)[:, -1]
            tokens = torch.cat([tokens, torch.multinomial(logits.softmax(-1), 1)], 1)
        old = score(policy, tokens)  # BUG GS803
    reward = (tokens[:, 1:] == 3).float().mean(1)
    advantage = (reward - reward.mean()) / (reward.std() + 1e-4)
    for epoch in range(2):
        ratio = (score(policy, tokens) - old).exp()  # BUG GS803
        weighted = torch.min(ratio * advantage[:, None], ratio.clamp(0.8, 1.2) * advantage[:, None])
        optimizer.zero_grad()
        (-weighted.mean()).backward()
        optimizer.step()
