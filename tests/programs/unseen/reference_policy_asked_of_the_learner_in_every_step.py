"""Proximal policy optimisation of a storekeeper who orders two goods: the log-probabilities to compare with are asked
of the learner itself at the start of every optimisation step, so that the ratio is always one.

Round 30
Class: meaning
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(3010)

SHOPS, DAYS = 16, 12


class Store:
    """Two goods, four sizes of an order for each; empty shelves and full ones both cost money."""

    def __init__(self):
        self.shelves = torch.rand(SHOPS, 2) * 4

    def execute(self, orders):
        demand = torch.poisson(torch.tensor([1.0, 2.0]).expand(SHOPS, 2))
        stock = self.shelves + orders
        sold = torch.min(stock, demand)
        self.shelves = (stock - sold).clamp(max=8)
        reward = (sold - 0.3 * self.shelves - 0.2 * orders).sum(dim=1)
        return self.shelves.clone(), reward


class PPOAgent:
    def __init__(self, discount=0.9, clip_ratio=0.2, optimization_steps=6, subsampling=0.5):
        self.discount, self.clip_ratio = discount, clip_ratio
        self.optimization_steps, self.subsampling = optimization_steps, subsampling
        self.network = nn.Sequential(nn.Linear(2, 48), nn.Tanh())
        self.goods = nn.ModuleList([nn.Linear(48, 4), nn.Linear(48, 4)])
        self.baseline = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
        modules = nn.ModuleList([self.network, self.goods, self.baseline])
        self.optimizer = torch.optim.Adam(modules.parameters(), lr=3e-3)

    def policies(self, states):
        embedded = self.network(states / 4)
        return [Categorical(logits=head(embedded)) for head in self.goods]

    def log_probability(self, states, actions):
        parts = [p.log_prob(actions[..., k]) for k, p in enumerate(self.policies(states))]
        return torch.stack(parts).sum(dim=0)

    @torch.no_grad()
    def act(self, states):
        return torch.stack([policy.sample() for policy in self.policies(states)], dim=-1)

    def value(self, states):
        return self.baseline(states / 4).squeeze(-1)

    def returns(self, rewards, last_state):
        with torch.no_grad():
            running, collected = self.value(last_state), []
        for reward in reversed(rewards):
            running = reward + self.discount * running
            collected.append(running)
        return torch.stack(collected[::-1])

    def update(self, states, actions, returns):
        states, actions, returns = (part.flatten(0, 1) for part in (states, actions, returns))
        with torch.no_grad():
            advantages = returns - self.value(states)
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
        for _ in range(self.optimization_steps):
            rows = torch.randperm(len(states))[: int(self.subsampling * len(states))]
            logp = self.log_probability(states[rows], actions[rows])
            with torch.no_grad():
                reference = self.log_probability(states[rows], actions[rows])  # BUG GS804
            ratio = (logp - reference).exp()  # BUG GS804
            clipped = ratio.clamp(1 / (1 + self.clip_ratio), 1 + self.clip_ratio)
            objective = torch.min(ratio * advantages[rows], clipped * advantages[rows]).mean()
            baseline_loss = (self.value(states[rows]) - returns[rows]).pow(2).mean()
            self.optimizer.zero_grad()
            (0.5 * baseline_loss - objective).backward()
            self.optimizer.step()


store, agent = Store(), PPOAgent()
states = store.shelves.clone()
for update in range(15):
    batch = {"states": [], "actions": [], "rewards": []}
    for _ in range(DAYS):
        actions = agent.act(states)
        batch["states"].append(states)
        batch["actions"].append(actions)
        states, rewards = store.execute(actions)
        batch["rewards"].append(rewards)
    returns = agent.returns(batch["rewards"], states)
    agent.update(torch.stack(batch["states"]), torch.stack(batch["actions"]), returns)
    print(update, torch.stack(batch["rewards"]).mean().item())
