"""Entropy is minimised on purpose: semi-supervised labels, adaptation at test time, and a gate that is to decide
which of several option policies acts, beside the policy gradient of those policies."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
classifier = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(classifier.parameters(), lr=1e-3)
for _ in range(14):
    labelled, labels, unlabelled = torch.randn(16, 4), torch.randint(3, (16,)), torch.randn(16, 4)
    unsure = Categorical(logits=classifier(unlabelled)).entropy().mean()
    loss = nn.functional.cross_entropy(classifier(labelled), labels) + 0.1 * unsure
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

for _ in range(14):
    log_p = classifier(torch.randn(16, 4)).log_softmax(-1)
    loss = -(log_p.exp() * log_p).sum(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


class Options(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(4, 16)
        self.gate, self.heads = nn.Linear(16, 2), nn.ModuleList(nn.Linear(16, 3) for _ in range(2))

    def forward(self, obs):
        hidden = torch.relu(self.trunk(obs))
        weights = self.gate(hidden).softmax(-1)
        logits = torch.stack([head(hidden) for head in self.heads], 1)
        return weights, (weights.unsqueeze(-1) * logits).sum(1)


options = Options()
optimizer = torch.optim.Adam(options.parameters(), lr=1e-3)
for _ in range(14):
    weights, logits = options(torch.randn(16, 4))
    dist = Categorical(logits=logits)
    gate_entropy = Categorical(probs=weights).entropy().mean()
    by_hand = -(weights * (weights + 1e-8).log()).sum(-1).mean()
    policy_loss = -(dist.log_prob(dist.sample()) * torch.randn(16)).mean()
    loss = policy_loss - 0.01 * dist.entropy().mean() + 0.01 * gate_entropy + 0.01 * by_hand
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
