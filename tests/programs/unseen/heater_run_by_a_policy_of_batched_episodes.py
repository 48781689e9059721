"""A house is kept warm at the price of the hour: a policy over three settings of the heater is optimised for some
steps on every batch of finished days, with the clipped objective and a learned baseline.

Round 31
Class: meaning
"""

from collections import defaultdict

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

HOURS = 24
HEAT = (0.0, 1.5, 3.0)


class House:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def _state(self):
        clock = 2 * np.pi * self.hour / HOURS
        values = [
            (self.inside - 20) / 5,
            (self.outside - 5) / 5,
            np.sin(clock),
            np.cos(clock),
            self.hour / HOURS,
        ]
        return np.array(values, dtype=np.float32)

    def reset(self):
        self.hour = 0
        self.inside = self.rng.uniform(15, 22)
        self.outside = self.rng.uniform(-2, 10)
        return self._state()

    def execute(self, action):
        price = 0.35 if 7 <= self.hour < 20 else 0.15
        self.inside += HEAT[action] - 0.1 * (self.inside - self.outside) + self.rng.normal(0, 0.2)
        reward = -0.2 * abs(self.inside - 20) - price * HEAT[action]
        self.hour += 1
        return self._state(), self.hour == HOURS, reward


class PGModel:
    def __init__(self, state_size, num_actions, spec):
        self.spec = spec
        self.network = nn.Sequential(nn.Linear(state_size, 48), nn.Tanh(), nn.Linear(48, num_actions))
        self.baseline = nn.Sequential(nn.Linear(state_size, 48), nn.Tanh(), nn.Linear(48, 1))
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=spec["learning_rate"])
        self.baseline_optimizer = torch.optim.Adam(self.baseline.parameters(), lr=spec["learning_rate"])

    def log_probability(self, states, actions):
        logits = self.network(states)
        log_probs = F.log_softmax(logits, dim=-1)
        return log_probs.gather(1, actions.unsqueeze(1)).squeeze(1), log_probs

    @torch.no_grad()
    def act(self, state):
        probabilities = self.network(torch.from_numpy(state)).softmax(dim=-1)
        return torch.multinomial(probabilities, 1).item()

    def loss_per_instance(self, states, actions, advantages):
        log_prob, log_probs = self.log_probability(states, actions)
        fixed_log_prob = self.log_probability(states, actions)[0].detach()  # BUG GS804
        prob_ratio = torch.exp(log_prob - fixed_log_prob)  # BUG GS804
        low, high = 1.0 - self.spec["likelihood_ratio_clipping"], 1.0 + self.spec["likelihood_ratio_clipping"]
        clipped = torch.clamp(prob_ratio, min=low, max=high)
        surrogate = torch.minimum(prob_ratio * advantages, clipped * advantages)
        entropy = -(log_probs.exp() * log_probs).sum(dim=1)
        return -surrogate - self.spec["entropy_regularization"] * entropy

    def update(self, states, actions, returns):
        with torch.no_grad():
            advantages = returns - self.baseline(states).squeeze(1)
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)

        for _ in range(self.spec["optimization_steps"]):
            loss = self.loss_per_instance(states, actions, advantages).mean()  # BUG GS804
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

        for _ in range(self.spec["baseline_steps"]):
            baseline_loss = F.mse_loss(self.baseline(states).squeeze(1), returns)
            self.baseline_optimizer.zero_grad()
            baseline_loss.backward()
            self.baseline_optimizer.step()


def discounted(rewards, discount):
    returns, following = [], 0.0
    for reward in reversed(rewards):
        following = reward + discount * following
        returns.append(following)
    return returns[::-1]


def run_day(house, model, memory, discount):
    state, terminal, rewards = house.reset(), False, []
    while not terminal:
        action = model.act(state)
        memory["states"].append(state)
        memory["actions"].append(action)
        state, terminal, reward = house.execute(action)
        rewards.append(reward)
    memory["returns"].extend(discounted(rewards, discount))
    return sum(rewards)


if __name__ == "__main__":
    torch.manual_seed(3106)
    spec = {
        "learning_rate": 4e-3,
        "likelihood_ratio_clipping": 0.2,
        "entropy_regularization": 0.01,
        "optimization_steps": 10,
        "baseline_steps": 5,
    }
    house, model = House(3106), PGModel(5, len(HEAT), spec)
    for batch in range(20):
        memory = defaultdict(list)
        totals = [run_day(house, model, memory, discount=0.95) for _ in range(8)]
        states = torch.from_numpy(np.stack(memory["states"]))
        actions = torch.tensor(memory["actions"])
        returns = torch.tensor(memory["returns"], dtype=torch.float32)
        model.update(states, actions, returns)
        if batch % 5 == 0:
            print(f"batch {batch}: {np.mean(totals):.2f} a day")
