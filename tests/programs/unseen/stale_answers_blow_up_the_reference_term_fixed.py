"""Answers wait in a queue for many updates; the log-ratio of the divergence's estimate is limited.

Round 23
Class: magnitude
"""

import collections

import torch
from torch import nn

torch.manual_seed(2318)
VOCAB, LENGTH, WIDTH = 24, 12, 32


def make_model():
    return nn.Sequential(
        nn.Embedding(VOCAB, WIDTH), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, VOCAB)
    )


def answer_logp(model, ids):
    logp = model(ids[:, :-1]).log_softmax(dim=-1)
    return torch.take_along_dim(logp, ids[:, 1:, None], dim=-1).squeeze(-1).sum(-1)


def divergence(logp, reference):
    delta = (reference - logp).clamp(-10.0, 10.0)
    return (torch.exp(delta) - delta - 1).mean()


class Queue:
    def __init__(self):
        self.waiting = collections.deque()

    def put(self, model):
        ids = torch.randint(VOCAB, (32, 1))
        with torch.no_grad():
            for _ in range(LENGTH):
                ids = torch.cat([ids, model(ids[:, -1:])[:, 0].softmax(-1).multinomial(1)], 1)
        self.waiting.append(ids)

    def get(self):
        return self.waiting.popleft()


policy, reference = make_model(), make_model()
reference.load_state_dict(policy.state_dict())
reference.requires_grad_(False)
queue = Queue()
for _ in range(24):
    queue.put(policy)
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-1)
for update in range(40):
    ids = queue.get()
    queue.put(policy)
    reward = (ids[:, 1:] == 3).float().sum(1)
    advantage = reward - reward.mean()
    logp = answer_logp(policy, ids)
    with torch.no_grad():
        anchor = answer_logp(reference, ids)
    loss = -(advantage * logp).mean() + 1e-4 * divergence(logp, anchor)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
