"""Three agents with different learning rates play a bandit of contexts, and now and then the worst one
takes over what the best one has learned, by loading the best one's weights into its own network.

Round 33
Class: late and rare
"""

import copy

import numpy as np
import torch
from torch import nn

CONTEXT, ARMS = 6, 4


class ContextualBandit:
    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        self.weights = self.rng.normal(size=(ARMS, CONTEXT))

    def contexts(self, n):
        return self.rng.normal(size=(n, CONTEXT)).astype(np.float32)

    def pull(self, contexts, arms):
        means = np.tanh((contexts * self.weights[arms]).sum(1))
        return (means + 0.1 * self.rng.normal(size=len(arms))).astype(np.float32)


class Member:
    def __init__(self, lr, entropy):
        self.lr, self.entropy = lr, entropy
        self.policy = nn.Sequential(nn.Linear(CONTEXT, 32), nn.Tanh(), nn.Linear(32, ARMS))
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.fitness = 0.0

    def train_step(self, bandit, batch=64):
        contexts = bandit.contexts(batch)
        dist = torch.distributions.Categorical(logits=self.policy(torch.from_numpy(contexts)))
        arms = dist.sample()
        rewards = torch.from_numpy(bandit.pull(contexts, arms.numpy()))
        loss = (
            -(dist.log_prob(arms) * (rewards - rewards.mean())).mean() - self.entropy * dist.entropy().mean()
        )
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.fitness = 0.9 * self.fitness + 0.1 * rewards.mean().item()


class Population:
    def __init__(self, rates, seed=33):
        self.rng = np.random.default_rng(seed)
        self.members = [Member(lr, 0.01) for lr in rates]

    def exploit_and_explore(self):
        ranked = sorted(self.members, key=lambda member: member.fitness)
        worst, best = ranked[0], ranked[-1]
        worst.policy.load_state_dict(copy.deepcopy(best.policy.state_dict()))
        worst.fitness = best.fitness
        worst.lr = best.lr * float(self.rng.choice([0.8, 1.25]))
        worst.entropy = best.entropy * float(self.rng.choice([0.8, 1.25]))
        for group in worst.optimizer.param_groups:
            group["lr"] = worst.lr

    def train(self, bandit, generations=8, steps=15):
        for generation in range(generations):
            for _ in range(steps):
                for member in self.members:
                    member.train_step(bandit)
            print(generation, " ".join(f"{member.fitness:.3f}" for member in self.members))
            if generation % 2 == 1:
                self.exploit_and_explore()


if __name__ == "__main__":
    torch.manual_seed(33)
    Population([1e-4, 1e-3, 5e-3]).train(ContextualBandit())
