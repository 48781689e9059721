"""References for a KL penalty: a frozen copy, one that is renewed now and then on purpose, the policy of the last
batch over several epochs, and a base model under the adapter that is trained."""

import copy

import torch
from torch import nn
from torch.nn.functional import kl_div

torch.manual_seed(0)


def picked(model, x, y):
    return model(x).log_softmax(-1).gather(-1, y[..., None]).squeeze(-1)


def language_model():
    return nn.Sequential(nn.Embedding(12, 16), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 12))


policy = language_model()
frozen = copy.deepcopy(policy).requires_grad_(False)
renewed = copy.deepcopy(policy).requires_grad_(False)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for step in range(14):
    tokens, advantage = torch.randint(12, (8, 7)), torch.randn(8, 1)
    x, y = tokens[:, :-1], tokens[:, 1:]
    log_prob = picked(policy, x, y)
    with torch.no_grad():
        first, second = picked(frozen, x, y), picked(renewed, x, y)
    k3 = (first - log_prob).exp() - (first - log_prob) - 1
    k1 = log_prob - second
    loss = (-(log_prob - log_prob.detach()).exp() * advantage + 0.1 * k3 + 0.1 * k1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 4:
        renewed.load_state_dict(policy.state_dict())

for _ in range(4):  # the policy of this batch is the reference of its epochs
    x, y, advantage = torch.randint(12, (8, 6)), torch.randint(12, (8, 6)), torch.randn(8, 1)
    with torch.no_grad():
        before = policy(x).log_softmax(-1)
    for _ in range(3):
        log_prob = policy(x).log_softmax(-1)
        divergence = kl_div(log_prob, before, log_target=True, reduction="batchmean")
        score = log_prob.gather(-1, y[..., None]).squeeze(-1)
        loss = -(score * advantage).mean() + 0.1 * divergence
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Adapted(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = language_model().requires_grad_(False)
        self.adapter = nn.Linear(12, 12, bias=False)
        nn.init.zeros_(self.adapter.weight)
        self.enabled = True

    def forward(self, x):
        logits = self.base(x)
        return logits + self.adapter(logits) if self.enabled else logits


adapted = Adapted()
optimizer = torch.optim.Adam(adapted.adapter.parameters(), lr=1e-2)
for _ in range(14):
    x, y, advantage = torch.randint(12, (8, 6)), torch.randint(12, (8, 6)), torch.randn(8, 1)
    with torch.no_grad():
        adapted.enabled = False
        reference = picked(adapted, x, y)
        adapted.enabled = True
    log_prob = picked(adapted, x, y)
    loss = (-log_prob * advantage + 0.1 * (log_prob - reference)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
