"""A policy stays near a frozen reference, both on top of one frozen encoder. The blocks save memory: where nothing asks
for a gradient the residual is added in place. The reference's first block so adds to the features that the policy
has kept for its backward.

Round 17
Class: hidden writes
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1706)
WIDTH, TOKENS, LENGTH, BATCH = 24, 11, 6, 16


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.inner = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x):
        y = self.inner(self.norm(x))
        if not (x.requires_grad or y.requires_grad):
            return x.add_(y)  # BUG GS101 GS104
        return x + y


class Head(nn.Module):
    def __init__(self, blocks=2):
        super().__init__()
        self.blocks = nn.Sequential(*(Block() for _ in range(blocks)))
        self.out = nn.Linear(WIDTH, TOKENS)

    def forward(self, features):
        return F.log_softmax(self.out(self.blocks(features)), -1)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(TOKENS, WIDTH)
        self.memory = nn.GRU(WIDTH, WIDTH, batch_first=True)

    @torch.no_grad()
    def forward(self, tokens):
        return self.memory(self.tokens(tokens))[0]


class Tuner:
    def __init__(self, divergence=0.1):
        self.encoder, self.policy = Encoder().requires_grad_(False), Head()
        self.reference = copy.deepcopy(self.policy).requires_grad_(False)
        self.optimizer = torch.optim.AdamW(self.policy.parameters(), lr=1e-3)
        self.divergence = divergence

    @torch.no_grad()
    def rollout(self):
        tokens = torch.randint(TOKENS, (BATCH, 1))
        for _ in range(LENGTH):
            last = self.policy(self.encoder(tokens)[:, -1])
            tokens = torch.cat(
                [tokens, torch.distributions.Categorical(logits=last).sample().unsqueeze(1)], 1
            )
        return tokens

    def loss(self, tokens, advantage):
        features = self.encoder(tokens[:, :-1])
        mine = self.policy(features)
        theirs = self.reference(features)  # BUG GS101 GS104
        chosen = mine.gather(-1, tokens[:, 1:].unsqueeze(-1)).squeeze(-1)
        divergence = (mine.exp() * (mine - theirs)).sum(-1)
        return (-advantage.unsqueeze(1) * chosen + self.divergence * divergence).mean()

    def update(self):
        tokens = self.rollout()
        reward = (tokens[:, 1:] == 3).float().mean(1)
        loss = self.loss(tokens, reward - reward.mean())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return reward.mean().item()


tuner = Tuner()
for step in range(50):
    share = tuner.update()
    if step % 10 == 0:
        print(step, "share of threes", round(share, 3))
