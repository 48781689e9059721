"""Four answers to each of five prompts, generated round by round. The group statistics are taken prompt by prompt and
flattened so: the advantages belong to other answers than the log-probabilities they multiply.

Round 23
Class: meaning
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2321)
PROMPTS, ROUNDS, VOCAB, WIDTH, LENGTH = 5, 4, 12, 24, 6


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.lookup = nn.Embedding(VOCAB, WIDTH)
        self.reader = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.speak = nn.Linear(WIDTH, VOCAB)

    def logits(self, ids):
        return self.speak(self.reader(self.lookup(ids))[0])

    @torch.no_grad()
    def write(self, prompts):
        ids = prompts
        for _ in range(LENGTH):
            ids = torch.cat([ids, torch.multinomial(F.softmax(self.logits(ids)[:, -1], -1), 1)], -1)
        return ids


def reward_of(ids):
    """Answers that keep to the prompt's parity."""
    return (ids[:, 1:] % 2 == ids[:, :1] % 2).float().mean(1)


def group_relative(rewards):
    """Rewards come as rounds of prompts."""
    groups = rewards.view(ROUNDS, PROMPTS).t()
    centred = groups - groups.mean(dim=1, keepdim=True)
    return (centred / (groups.std(dim=1, keepdim=True) + 1e-4)).flatten()  # BUG GS806 GS801 GS604


def micro_losses(writer, ids, advantages, size=5):
    for some, weights in zip(ids.split(size), advantages.split(size), strict=True):
        nll = F.cross_entropy(writer.logits(some[:, :-1]).mT, some[:, 1:], reduction="none")
        yield (nll * weights[:, None]).sum() / (len(ids) * LENGTH)  # BUG GS801


writer = Writer()
optimizer = torch.optim.Adam(writer.parameters(), lr=2e-3)
for step in range(40):
    prompts = torch.randint(VOCAB, (PROMPTS, 1))
    ids = torch.cat([writer.write(prompts) for _ in range(ROUNDS)])
    rewards = reward_of(ids)
    advantages = group_relative(rewards)
    optimizer.zero_grad()
    for loss in micro_losses(writer, ids, advantages):
        loss.backward()
    optimizer.step()
