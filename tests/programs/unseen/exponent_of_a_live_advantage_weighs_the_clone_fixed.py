"""Advantage weighted regression from a recorded walk on a grid, as a homework. The weight of a recorded action is the
exponential of its advantage over what the policy would do, and nothing in it is detached: the policy also learns to
make the weights of unlikely actions small, by moving its own average.
Repaired here.

Round 21
Class: weights
"""

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

SIZE, GOAL = 5, (4, 4)
MOVES = ((0, 1), (0, -1), (1, 0), (-1, 0))


def encode(cell):
    onehot = np.zeros(2 * SIZE, dtype=np.float32)
    onehot[cell[0]] = onehot[SIZE + cell[1]] = 1.0
    return onehot


def move(cell, action):
    target = tuple(int(np.clip(c + d, 0, SIZE - 1)) for c, d in zip(cell, MOVES[action]))
    return target, float(target == GOAL) - 0.02, target == GOAL


def random_walks(rng, steps=3000):
    rows, cell = [], (0, 0)
    for _ in range(steps):
        action = int(rng.integers(4))
        following, reward, done = move(cell, action)
        rows.append((encode(cell), action, reward, encode(following), done))
        cell = tuple(int(c) for c in rng.integers(0, SIZE - 1, size=2)) if done else following
    return rows


def build_mlp(n_in, n_out, width=64):
    return nn.Sequential(
        nn.Linear(n_in, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, n_out)
    )


class AWACAgent:
    def __init__(self, n_obs, n_actions, discount=0.95, temperature=0.1, lr=2e-3):
        self.actor, self.critic = build_mlp(n_obs, n_actions), build_mlp(n_obs, n_actions)
        self.target_critic = build_mlp(n_obs, n_actions)
        self.target_critic.load_state_dict(self.critic.state_dict())
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=lr)
        self.discount, self.temperature = discount, temperature

    def compute_critic_loss(self, obs, actions, rewards, next_obs, dones):
        with torch.no_grad():
            next_dist = Categorical(logits=self.actor(next_obs))
            next_qs = (next_dist.probs * self.target_critic(next_obs)).sum(-1)
            target = rewards + self.discount * (1.0 - dones) * next_qs
        q_values = self.critic(obs).gather(-1, actions.unsqueeze(-1)).squeeze(-1)
        return nn.functional.mse_loss(q_values, target)

    def compute_advantage(self, obs, actions, dist):
        qa_values = self.critic(obs)
        q_values = qa_values.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
        values = (dist.probs * qa_values).sum(-1)
        return q_values - values

    def update_actor(self, obs, actions):
        dist = Categorical(logits=self.actor(obs))
        with torch.no_grad():
            advantages = self.compute_advantage(obs, actions, dist)
            weights = torch.exp(advantages / self.temperature).clamp(max=20.0)
        loss = -(weights * dist.log_prob(actions)).mean()
        self.actor_optimizer.zero_grad()
        loss.backward()
        self.actor_optimizer.step()
        return loss.item()

    def update(self, batch, step):
        critic_loss = self.compute_critic_loss(*batch)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        if step % 20 == 0:
            self.target_critic.load_state_dict(self.critic.state_dict())
        return critic_loss.item(), self.update_actor(batch[0], batch[1])

    def evaluate(self, limit=30):
        cell = (0, 0)
        for step in range(limit):
            with torch.no_grad():
                action = self.actor(torch.from_numpy(encode(cell))).argmax().item()
            cell, _, done = move(cell, action)
            if done:
                return step + 1
        return limit


torch.manual_seed(31)
rng = np.random.default_rng(31)
dataset = [torch.as_tensor(np.array(column)) for column in zip(*random_walks(rng))]
dataset = [column if column.dtype == torch.int64 else column.float() for column in dataset]
agent = AWACAgent(2 * SIZE, len(MOVES))
for step in range(500):
    index = torch.randint(len(dataset[0]), (128,))
    losses = agent.update([column[index] for column in dataset], step)
    if step % 100 == 99:
        print(
            f"step {step + 1}: critic {losses[0]:.4f}, actor {losses[1]:.3f}, steps to the goal {agent.evaluate()}"
        )
