"""A preference loss as the difference of what two models say of two answers, each answer in a pass of its own."""

import copy

import torch
from torch import nn
from torch.nn.functional import logsigmoid

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 4))
reference = copy.deepcopy(policy).requires_grad_(False)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)


def score(model, prompt, answer):
    return model(prompt).log_softmax(-1).gather(1, answer).squeeze(1)


for update in range(30):
    good, bad = torch.randn(16, 6), torch.randn(16, 6)
    answers = torch.randint(4, (16, 1))
    better, worse = score(policy, good, answers), score(policy, bad, answers)
    with torch.no_grad():
        better_before, worse_before = score(reference, good, answers), score(reference, bad, answers)
    margin = (better - worse) - (better_before - worse_before)
    loss = -logsigmoid(0.1 * margin).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
