"""One ratio for each answer, whose log-probabilities are summed in full precision on both sides.

Round 23
Class: llm-rl
"""

import torch
from torch import nn

torch.manual_seed(2319)


class SeqPolicy(nn.Module):
    def __init__(self, vocab=30, width=24):
        super().__init__()
        self.embedding = nn.Embedding(vocab, width)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.project = nn.Linear(width, vocab)

    def forward(self, tokens):
        return self.project(self.lstm(self.embedding(tokens))[0])


class Rollouts:
    def __init__(self, policy, answers=16, length=20, dtype=torch.float32):
        self.policy, self.answers, self.length, self.dtype = policy, answers, length, dtype

    @torch.no_grad()
    def collect(self):
        tokens = torch.randint(0, 30, (self.answers, 1))
        for _ in range(self.length):
            logits = self.policy(tokens)[:, -1]
            tokens = torch.cat([tokens, torch.multinomial(logits.softmax(-1), 1)], dim=1)
        scores = torch.log_softmax(self.policy(tokens[:, :-1]), -1).to(self.dtype)
        old = scores.gather(-1, tokens[:, 1:].unsqueeze(-1)).squeeze(-1).sum(-1)
        reward = (tokens[:, 1:] > tokens[:, :-1]).float().mean(-1)
        return tokens, old.float(), reward


def sequence_logp(policy, tokens):
    logp = torch.log_softmax(policy(tokens[:, :-1]), -1)
    return logp.gather(-1, tokens[:, 1:].unsqueeze(-1)).squeeze(-1).sum(-1)


def train(updates=18, epochs=2):
    policy = SeqPolicy()
    rollouts = Rollouts(policy)
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    for _ in range(updates):
        tokens, old, reward = rollouts.collect()
        advantage = (reward - reward.mean()) / (reward.std() + 1e-6)
        for _ in range(epochs):
            ratio = (sequence_logp(policy, tokens) - old).exp()
            loss = -torch.min(ratio * advantage, ratio.clamp(0.9, 1.1) * advantage).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


train()
