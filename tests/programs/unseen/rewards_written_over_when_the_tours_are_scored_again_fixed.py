"""Tours built city by city and trained with a clipped surrogate. To score a tour again, the policy walks it through the
environment, which writes the reward of every step, zero, into the dictionary of the minibatch; the advantage is read
after that, and all tours are worth the same.

Round 17
Class: zero in part
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1705)
CITIES, INSTANCES, STARTS, WIDTH = 7, 6, 5, 24


class TourEnv:
    """Its state is a dictionary that every step writes to; the length is known when the tour is complete."""

    def reset(self, cities):
        size = len(cities)
        return {
            "cities": cities,
            "current": torch.zeros(size, dtype=torch.long),
            "visited": F.one_hot(torch.zeros(size, dtype=torch.long), CITIES).bool(),
            "reward": torch.zeros(size),
        }

    def step(self, state, city):
        state["current"] = city
        state["visited"] = state["visited"] | F.one_hot(city, CITIES).bool()
        state["reward"] = torch.zeros(len(city))
        return state

    def score(self, state, actions):
        tour = F.pad(actions, (1, 0))
        places = state["cities"].gather(1, tour.unsqueeze(-1).expand(-1, -1, 2))
        return -(places - places.roll(-1, 1)).norm(dim=-1).sum(1)


class AttentionPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(2, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
        self.query = nn.Linear(2 * WIDTH, WIDTH)
        self.key = nn.Linear(WIDTH, WIDTH)

    def log_probs(self, nodes, state):
        rows = torch.arange(len(nodes))
        context = torch.cat([nodes.mean(1), nodes[rows, state["current"]]], -1)
        scores = (self.key(nodes) @ self.query(context).unsqueeze(-1)).squeeze(-1) / WIDTH**0.5
        return F.log_softmax((10 * torch.tanh(scores)).masked_fill(state["visited"], -1e9), -1)

    @torch.no_grad()
    def build(self, env, state):
        nodes, actions, total = self.embed(state["cities"]), [], 0.0
        for _ in range(CITIES - 1):
            log_probs = self.log_probs(nodes, state)
            city = torch.multinomial(log_probs.exp(), 1)
            total = total + log_probs.gather(1, city).squeeze(1)
            actions.append(city.squeeze(1))
            state = env.step(state, actions[-1])
        return torch.stack(actions, 1), total

    def evaluate(self, env, state, actions):
        nodes, total, entropy = self.embed(state["cities"]), 0.0, 0.0
        for city in actions.unbind(1):
            log_probs = self.log_probs(nodes, state)
            total = total + log_probs.gather(1, city.unsqueeze(1)).squeeze(1)
            entropy = entropy - (log_probs.exp() * log_probs).sum(1)
            state = env.step(state, city)
        return total, entropy


class SurrogateTrainer:
    def __init__(self, epochs=2, minibatch=10, clip=0.2):
        self.env, self.policy = TourEnv(), AttentionPolicy()
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=2e-3)
        self.epochs, self.minibatch, self.clip = epochs, minibatch, clip

    def minibatches(self, data):
        for rows in torch.randperm(INSTANCES * STARTS).split(self.minibatch):
            yield {name: column[rows] for name, column in data.items()}

    def iterate(self):
        cities = torch.rand(INSTANCES, CITIES, 2).repeat_interleave(STARTS, 0)
        data = self.env.reset(cities)
        actions, old = self.policy.build(self.env, dict(data))
        data["reward"] = self.env.score(data, actions)
        length = -data["reward"].mean().item()
        data |= {"actions": actions, "old": old}
        for _ in range(self.epochs):
            for batch in self.minibatches(data):
                self.update(batch)
        return length

    def update(self, batch):
        reward = batch["reward"]
        new, entropy = self.policy.evaluate(self.env, batch, batch["actions"])
        advantage = (reward - reward.mean()) / (reward.std() + 1e-8)
        ratio = (new - batch["old"]).exp()
        limited = ratio.clamp(1 - self.clip, 1 + self.clip)
        surrogate = torch.min(ratio * advantage, limited * advantage).mean()
        loss = -surrogate - 0.002 * entropy.mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.optimizer.step()


trainer = SurrogateTrainer()
lengths = [trainer.iterate() for _ in range(24)]
print(f"length {sum(lengths[:6]) / 6:.3f} → {sum(lengths[-6:]) / 6:.3f}")
