"""A novelty bonus by distillation: the predictor's optimizer is cleared in the warm-up and nowhere in the loop after it.
Repaired here.

Round 12
Class: late and rare
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1204)
WARM_UP, UPDATES, WALKERS, STEPS = 30, 50, 8, 12


def network(outputs):
    return nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, outputs))


fixed, predictor = network(8).requires_grad_(False), network(8)
policy, value = network(4), network(1)
predictor_opt = torch.optim.SGD(predictor.parameters(), lr=0.02)
agent_opt = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=2e-3)


def novelty(seen):
    return (predictor(seen) - fixed(seen)).pow(2).mean(-1)


def walk(position):
    seen, taken = [], []
    for _ in range(STEPS):
        with torch.no_grad():
            action = Categorical(logits=policy(position)).sample()
        seen.append(position)
        taken.append(action)
        push = nn.functional.one_hot(action, 6).float() - 0.25
        position = (position + 0.3 * push + 0.05 * torch.randn(WALKERS, 6)).clamp(-2, 2)
    return torch.stack(seen), torch.stack(taken), position


for update in range(WARM_UP):
    loss = novelty(torch.rand(64, 6) - 0.5).mean()
    predictor_opt.zero_grad()
    loss.backward()
    predictor_opt.step()

position = torch.zeros(WALKERS, 6)
for update in range(UPDATES):
    seen, taken, position = walk(position)
    with torch.no_grad():
        bonus = novelty(seen)
        returns = torch.zeros_like(bonus)
        ahead = value(position).squeeze(-1)
        for t in reversed(range(STEPS)):
            ahead = bonus[t] + 0.95 * ahead
            returns[t] = ahead
    estimate = value(seen).squeeze(-1)
    gain = returns - estimate.detach()
    dist = Categorical(logits=policy(seen))
    agent_loss = -(dist.log_prob(taken) * gain).mean() - 0.01 * dist.entropy().mean()
    agent_loss = agent_loss + 0.5 * (estimate - returns).pow(2).mean()
    agent_opt.zero_grad()
    agent_loss.backward()
    agent_opt.step()

    predictor_opt.zero_grad()
    novelty(seen).mean().backward()
    predictor_opt.step()
print("novelty", bonus.mean().item())
