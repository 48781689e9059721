"""The mean over answer tokens is given the advantages where it wants the mask: a mean with negative weights."""

import torch
from torch import nn

torch.manual_seed(41)
VOCABULARY, PAD, END, LENGTH = 12, 0, 1, 9


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, 24)
        self.memory = nn.GRU(24, 24, batch_first=True)
        self.head = nn.Linear(24, VOCABULARY)

    def forward(self, tokens):
        return self.head(self.memory(self.embed(tokens))[0])

    @torch.no_grad()
    def write(self, prompts):
        tokens, over = prompts, torch.zeros(len(prompts), dtype=torch.bool)
        for _ in range(LENGTH):
            word = torch.multinomial(self(tokens)[:, -1].softmax(-1), 1).squeeze(1)
            word = torch.where(over, PAD, word.clamp(min=1))
            tokens = torch.cat([tokens, word.unsqueeze(1)], 1)
            over = over | (word == END) | (torch.rand(len(prompts)) < 0.1)
        return tokens


def log_probs(model, tokens):
    logits = model(tokens[:, :-1])
    return logits.log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)


def advantages(tokens, group):
    reward = (tokens == 5).float().sum(1).view(-1, group)
    return ((reward - reward.mean(1, keepdim=True)) / (reward.std(1, keepdim=True) + 1e-4)).view(-1)


def over_tokens(values, mask):
    return (values * mask).sum() / mask.sum()


policy = Writer()
opt = torch.optim.AdamW(policy.parameters(), lr=2e-3)
for step in range(12):
    tokens = policy.write(torch.randint(2, VOCABULARY, (4, 1)).repeat_interleave(4, 0))
    mask = (tokens[:, 1:] != PAD).float()
    weight = advantages(tokens, 4).unsqueeze(1).expand_as(mask) * mask
    old = log_probs(policy, tokens).detach()
    for epoch in range(2):
        ratio = (log_probs(policy, tokens) - old).exp()
        surrogate = -torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight)
        loss = over_tokens(surrogate, weight)  # BUG GS605
        opt.zero_grad()
        loss.backward()
        opt.step()
