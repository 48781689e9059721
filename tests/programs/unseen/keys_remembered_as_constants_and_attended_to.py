"""A key-value memory that is filled word by word also while training; what it stores is detached, and attention reads
what it stores, so the projections of keys and values get no gradient.

Round 23
Class: llm-rl
"""

import math

import torch
from torch import nn

torch.manual_seed(2308)
WORDS, WIDTH, STEPS = 9, 16, 8


class Memory:
    def __init__(self):
        self.keys, self.values = None, None

    def extend(self, key, value):
        key, value = key.detach(), value.detach()  # BUG GS202
        if self.keys is None:
            self.keys, self.values = key, value
        else:
            self.keys = torch.cat((self.keys, key), dim=1)
            self.values = torch.cat((self.values, value), dim=1)
        return self.keys, self.values


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH, bias=False)
        self.key = nn.Linear(WIDTH, WIDTH, bias=False)
        self.value = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x, memory):
        keys, values = memory.extend(self.key(x), self.value(x))
        weights = (self.query(x) @ keys.mT / math.sqrt(WIDTH)).softmax(-1)
        return x + weights @ values


class Speaker(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.attention = Attention()
        self.out = nn.Linear(WIDTH, WORDS)

    def forward(self, word, memory):
        x = self.attention(self.embed(word).unsqueeze(1), memory)
        return torch.distributions.Categorical(logits=self.out(x.squeeze(1)))


def episode(policy, batch=12):
    word, memory = torch.randint(WORDS, (batch,)), Memory()
    first, log_probs, said = word, [], []
    for _ in range(STEPS):
        choice = policy(word, memory)
        word = choice.sample()
        log_probs.append(choice.log_prob(word))
        said.append(word)
    reward = (torch.stack(said) == first).float().sum(0)
    return torch.stack(log_probs).sum(0), reward


policy = Speaker()
optimizer = torch.optim.RMSprop(policy.parameters(), lr=1e-3)
baseline = 0.0
for _ in range(40):
    log_prob, reward = episode(policy)
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()
    loss = -((reward - baseline) * log_prob).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
