"""A critic whose advantage is a quadratic of the action: the mask of the ends is added to the next state's value where
Repaired here.
it should multiply it, so that an episode that has ended is still bootstrapped.

Round 14
Class: meaning
"""

import copy
from collections import namedtuple

import numpy as np
import torch
from torch import nn

Transition = namedtuple("Transition", "state action mask next_state reward")


class Reach:
    """A cart on a line: the episode ends when it comes near the flag."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.x, self.v, self.age = self.rng.uniform(-1, 1), 0.0, 0
        return np.array([self.x, self.v, 1.0], dtype=np.float32)

    def step(self, push):
        self.v = 0.8 * self.v + 0.2 * float(push[0])
        self.x += self.v
        self.age += 1
        near = abs(self.x - 0.5) < 0.15
        reward = 5.0 if near else -abs(self.x - 0.5)
        return np.array([self.x, self.v, 1.0], dtype=np.float32), reward, near, self.age >= 30


class QuadraticCritic(nn.Module):
    def __init__(self, states, actions, hidden=32):
        super().__init__()
        self.actions = actions
        self.trunk = nn.Sequential(nn.Linear(states, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.value = nn.Linear(hidden, 1)
        self.mu = nn.Linear(hidden, actions)
        self.lower = nn.Linear(hidden, actions * actions)
        self.register_buffer("below", torch.tril(torch.ones(actions, actions), diagonal=-1))
        self.register_buffer("diagonal", torch.eye(actions))

    def forward(self, state, action=None):
        features = self.trunk(state)
        mu, value = torch.tanh(self.mu(features)), self.value(features)
        if action is None:
            return mu, None, value
        square = self.lower(features).view(-1, self.actions, self.actions)
        factor = square * self.below + square.clamp(-4, 2).exp() * self.diagonal
        error = (action - mu).unsqueeze(2)
        quadratic = torch.bmm(factor.transpose(1, 2), error).pow(2).sum(1)
        return mu, value - 0.5 * quadratic, value


class Memory:
    def __init__(self, seed, capacity=3000):
        self.rows, self.capacity, self.rng = [], capacity, np.random.default_rng(seed)

    def push(self, *fields):
        self.rows.append(Transition(*fields))
        del self.rows[: -self.capacity]

    def sample(self, count):
        picked = [self.rows[i] for i in self.rng.integers(len(self.rows), size=count)]
        return Transition(
            *(torch.as_tensor(np.array(column), dtype=torch.float32) for column in zip(*picked, strict=True))
        )


class Naf:
    gamma, tau = 0.95, 0.02

    def __init__(self, states, actions):
        self.model = QuadraticCritic(states, actions)
        self.target_model = copy.deepcopy(self.model).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    @torch.no_grad()
    def select_action(self, state, noise):
        mu, _, _ = self.model(torch.as_tensor(state)[None])
        return (mu[0].numpy() + noise).clip(-1, 1).astype(np.float32)

    def update_parameters(self, batch):
        with torch.no_grad():
            _, _, next_values = self.target_model(batch.next_state)
        mask, reward = batch.mask.unsqueeze(1), batch.reward.unsqueeze(1)
        expected = reward + (self.gamma * mask * next_values)
        _, predicted, _ = self.model(batch.state, batch.action)
        loss = nn.functional.smooth_l1_loss(predicted, expected)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        for slow, fast in zip(self.target_model.parameters(), self.model.parameters(), strict=True):
            slow.copy_((1 - self.tau) * slow + self.tau * fast.detach())
        return loss.item()


torch.manual_seed(1402)
env, memory, agent = Reach(2), Memory(3), Naf(3, 1)
noise, losses = np.random.default_rng(4), []
for episode in range(14):
    state, over = env.reset(), False
    while not over:
        action = agent.select_action(state, noise.normal(scale=0.6, size=1))
        following, reward, terminal, late = env.step(action)
        memory.push(state, action, float(not terminal), following, reward)
        state, over = following, terminal or late
        if len(memory.rows) > 40:
            losses.append(agent.update_parameters(memory.sample(20)))
print(len(losses), f"{np.mean(losses[-20:]):.4f}")
