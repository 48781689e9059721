"""A token policy: the log-softmax runs along the vocabulary, from which the chosen words are taken."""

import torch
from torch import nn

torch.manual_seed(12)
VOCABULARY, LENGTH = 11, 7


class TokenPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY + 1, 24)
        self.memory = nn.GRU(24, 24, batch_first=True)
        self.head = nn.Linear(24, VOCABULARY)

    def forward(self, tokens):
        return self.head(self.memory(self.embed(tokens))[0])

    @torch.no_grad()
    def write(self, sentences):
        tokens = torch.full((sentences, 1), VOCABULARY)
        for _ in range(LENGTH):
            probs = self(tokens)[:, -1].softmax(-1)
            tokens = torch.cat([tokens, torch.multinomial(probs, 1)], 1)
        return tokens


def score(tokens):
    return (tokens[:, 1:] == 3).float().sum(1)


policy = TokenPolicy()
opt = torch.optim.AdamW(policy.parameters(), lr=2e-3)
for step in range(20):
    tokens = policy.write(16)
    reward = score(tokens)
    advantage = (reward - reward.mean()) / (reward.std() + 1e-6)
    log_probs = policy(tokens[:, :-1]).log_softmax(dim=-1)
    chosen = log_probs.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    loss = -(chosen.mean(1) * advantage).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
