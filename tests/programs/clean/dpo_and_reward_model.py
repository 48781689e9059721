"""DPO against a frozen reference, and a Bradley–Terry reward model whose scores are columns of one tensor."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Embedding(12, 8), nn.Linear(8, 12))
reference = copy.deepcopy(policy).eval().requires_grad_(False)
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
scorer = nn.Sequential(nn.Embedding(12, 8), nn.Flatten(), nn.Linear(48, 1))
scorer_optimizer = torch.optim.Adam(scorer.parameters(), lr=1e-3)


def sequence_log_prob(model, tokens):
    log_probs = model(tokens[:, :-1]).log_softmax(-1)
    return log_probs.gather(2, tokens[:, 1:].unsqueeze(2)).squeeze(2).sum(-1)


for _ in range(10):
    tokens = torch.randint(12, (16, 6))
    log_prob = sequence_log_prob(policy, tokens)
    with torch.no_grad():
        ref = sequence_log_prob(reference, tokens)
    chosen, rejected = (log_prob - ref).chunk(2)
    loss = -nn.functional.logsigmoid(0.1 * (chosen - rejected)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scores = scorer(tokens).view(8, 2)
    scorer_loss = nn.functional.softplus(scores[:, 1] - scores[:, 0]).mean()
    scorer_optimizer.zero_grad()
    scorer_loss.backward()
    scorer_optimizer.step()
