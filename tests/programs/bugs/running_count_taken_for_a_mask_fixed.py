"""A reward-weighted fine-tuning: the running count of the answer's tokens is made a mask by a comparison."""

import torch
from torch import nn

torch.manual_seed(44)
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


policy = Writer()
opt = torch.optim.AdamW(policy.parameters(), lr=2e-3)
for step in range(12):
    tokens = policy.write(torch.randint(2, VOCABULARY, (12, 2)))
    answer = torch.arange(1, tokens.shape[1]) >= 2
    mask = ((answer & (tokens[:, 1:] != PAD)).cumsum(1) > 0) & (tokens[:, 1:] != PAD)
    weight = (tokens == 5).float().sum(1, keepdim=True).exp()
    losses = -log_probs(policy, tokens) * weight / weight.mean()
    loss = (losses * mask).sum() / mask.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
