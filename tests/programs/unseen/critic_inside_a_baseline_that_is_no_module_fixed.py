"""REINFORCE with a choice of baselines. They are plain objects; one of them holds a critic, which the model's
`parameters()` does not see: its loss goes backward with the policy's and no optimizer ever moves it.
Repaired here.

Round 17
Class: weights
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1703)
ITEMS, PICKS, BATCH = 7, 3, 48


class Baseline(nn.Module):
    """What the rewards are compared with, and the loss of whatever makes the comparison."""

    def setup(self, width):
        pass

    def evaluate(self, sacks, reward):
        raise NotImplementedError


class MeanBaseline(Baseline):
    def evaluate(self, sacks, reward):
        return reward.mean(), reward.new_zeros(())


class CriticBaseline(Baseline):
    def setup(self, width):
        self.critic = nn.Sequential(nn.Linear(2 * ITEMS, width), nn.ReLU(), nn.Linear(width, 1))

    def evaluate(self, sacks, reward):
        value = self.critic(sacks.flatten(1)).squeeze(-1)
        return value.detach(), F.mse_loss(value, reward)


BASELINES = {"mean": MeanBaseline, "critic": CriticBaseline}


class Knapsack:
    """Items with a value and a weight each; what does not fit costs."""

    def generate(self, batch):
        return torch.rand(batch, ITEMS, 2)

    def reward(self, sacks, picks):
        chosen = sacks.gather(1, picks.unsqueeze(-1).expand(-1, -1, 2))
        value, weight = chosen[..., 0].sum(1), chosen[..., 1].sum(1)
        return value - 2 * (weight - 1.2).clamp(min=0)


class Selector(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(2, width), nn.ReLU(), nn.Linear(width, width))
        self.query = nn.Linear(width, width)

    def forward(self, sacks):
        items = self.embed(sacks)
        used = torch.zeros(items.shape[:2], dtype=torch.bool)
        context, picks, total = items.mean(1), [], 0.0
        for _ in range(PICKS):
            scores = (items * self.query(context).unsqueeze(1)).sum(-1) / items.shape[-1] ** 0.5
            choice = torch.distributions.Categorical(logits=scores.masked_fill(used, -1e9))
            pick = choice.sample()
            total = total + choice.log_prob(pick)
            used = used | F.one_hot(pick, ITEMS).bool()
            context = context + items[torch.arange(len(pick)), pick]
            picks.append(pick)
        return torch.stack(picks, 1), total


class Reinforce(nn.Module):
    def __init__(self, env, policy, baseline, lr=1e-3):
        super().__init__()
        self.env, self.policy = env, policy
        self.baseline = BASELINES[baseline]()
        self.baseline.setup(width=32)
        self.lr = lr

    def configure(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)

    def shared_step(self):
        sacks = self.env.generate(BATCH)
        picks, log_prob = self.policy(sacks)
        reward = self.env.reward(sacks, picks)
        compared, baseline_loss = self.baseline.evaluate(sacks, reward)
        policy_loss = -((reward - compared) * log_prob).mean()
        return policy_loss + baseline_loss, reward.mean().item()


model = Reinforce(Knapsack(), Selector(), baseline="critic")
optimizer = model.configure()
for step in range(60):
    loss, reward = model.shared_step()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("reward", reward)
