"""Monotonic advantage re-weighted imitation from a fixed set of harvests: the values come as a column, the returns as
a vector, and their difference compares every return with every value.

Round 30
Class: axes
"""

import torch
from torch import nn
from torch.distributions import Categorical
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3004)

SEASONS, GAMMA, BETA = 12, 0.9, 1.0


def harvest_log(fields=60):
    """What a careless farmer did: leave the field alone, take a third or take most of what stands there."""
    seen, taken, paid = [], [], []
    stock = torch.rand(fields)
    for season in range(SEASONS):
        choice = torch.randint(0, 3, (fields,))
        share = torch.tensor([0.0, 0.33, 0.9])[choice]
        seen.append(torch.stack([stock, torch.full_like(stock, season / SEASONS)], dim=1))
        taken.append(choice)
        paid.append(stock * share)
        left = stock * (1 - share)
        stock = (left + 0.8 * left * (1 - left)).clamp(0.02, 1.0)
    returns, running = [], torch.zeros(fields)
    for reward in reversed(paid):
        running = reward + GAMMA * running
        returns.insert(0, running)
    return TensorDataset(torch.cat(seen), torch.cat(taken), torch.cat(returns))


class Marwil:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 3))
        self.value = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 1))
        weights = [*self.policy.parameters(), *self.value.parameters()]
        self.optimizer = torch.optim.Adam(weights, lr=3e-3)
        self.scale = 1.0

    def losses(self, seen, taken, returns):
        values = self.value(seen)  # BUG GS601
        advantages = returns - values  # BUG GS601
        value_loss = advantages.pow(2).mean()
        self.scale += 0.05 * (value_loss.item() - self.scale)
        weights = torch.exp(BETA * advantages.detach() / self.scale**0.5).clamp(max=20.0)
        log_probs = Categorical(logits=self.policy(seen)).log_prob(taken)
        policy_loss = -(weights * log_probs).mean()
        return policy_loss, value_loss

    def fit(self, batch):
        policy_loss, value_loss = self.losses(*batch)
        self.optimizer.zero_grad()
        (policy_loss + 0.5 * value_loss).backward()
        self.optimizer.step()
        return policy_loss.item(), value_loss.item()


log = harvest_log()
learner = Marwil()
for epoch in range(6):
    history = [learner.fit(batch) for batch in DataLoader(log, batch_size=64, shuffle=True, drop_last=True)]
    policy_loss, value_loss = (sum(part) / len(history) for part in zip(*history))
    print(f"epoch {epoch}: imitation {policy_loss:.3f}, values {value_loss:.3f}")
