"""Answers are scored in one packed row and unpacked again; each piece is made into a new tensor on the way, and only
the entropy bonus still trains the policy.

Round 29
Class: llm-rl
"""

from typing import NamedTuple

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Answers(NamedTuple):
    tokens: list
    rewards: torch.Tensor


class NGramPolicy(nn.Module):
    """Predicts a token from the two before it."""

    def __init__(self, vocab=15, width=24):
        super().__init__()
        self.vocab = vocab
        self.table = nn.Embedding(vocab + 1, width)
        self.net = nn.Sequential(nn.Linear(2 * width, 64), nn.ReLU(), nn.Linear(64, vocab))

    def forward(self, before, last):
        return self.net(torch.cat([self.table(before), self.table(last)], dim=-1))


def contexts(tokens, bos):
    """The two tokens before each token of one answer."""
    padded = torch.cat([torch.tensor([bos, bos]), tokens])
    return padded[:-2], padded[1:-1]


@torch.no_grad()
def sample_answers(policy, count=16, longest=10, stop=0):
    found = []
    for _ in range(count):
        before = last = torch.tensor(policy.vocab)
        tokens = []
        while len(tokens) < longest:
            token = torch.multinomial(policy(before, last).softmax(-1), 1)[0]
            tokens.append(token)
            if token == stop:
                break
            before, last = last, token
        found.append(torch.stack(tokens))
    rewards = torch.stack([(t > 7).float().sum() - 0.5 * (t <= 7).float().sum() for t in found])
    return Answers(found, rewards)


def score_packed(policy, answers):
    lengths = [len(tokens) for tokens in answers.tokens]
    pairs = [contexts(tokens, policy.vocab) for tokens in answers.tokens]
    before, last = (torch.cat(column) for column in zip(*pairs))
    log_probs = policy(before, last).log_softmax(-1)
    entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
    packed = log_probs.gather(1, torch.cat(answers.tokens).unsqueeze(1)).squeeze(1)
    rows = [torch.tensor(piece) for piece in packed.split(lengths)]  # BUG GS202
    mask = pad_sequence([torch.ones(n) for n in lengths], batch_first=True)
    return pad_sequence(rows, batch_first=True), mask, entropy


torch.manual_seed(2924)
policy = NGramPolicy()
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
baseline = 0.0
for update in range(30):
    answers = sample_answers(policy)
    log_probs, mask, entropy = score_packed(policy, answers)
    advantage = answers.rewards - baseline
    baseline = 0.9 * baseline + 0.1 * answers.rewards.mean().item()
    sequence = (log_probs * mask).sum(1)
    loss = -(sequence * advantage).mean() - 0.01 * entropy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 10 == 0:
        print(f"update {update}: reward {answers.rewards.mean().item():.2f}")
