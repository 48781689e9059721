"""Agents that share a room, each with a clipped surrogate and a second network for its old policy, which acts. The old
policies take over the weights after every update; before the first they are networks of their own, and the first
rollout's ratios compare two strangers.

Round 17
Class: meaning
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1709)
rng = np.random.default_rng(1709)
AGENTS, OBS, MOVES, STEPS, GAMMA = 3, 4, 5, 24, 0.9


class Room:
    """Everybody walks on a grid and is paid for being near the others, and for standing still."""

    shifts = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], np.float32)

    def reset(self):
        self.places = rng.uniform(-3, 3, (AGENTS, 2)).astype(np.float32)
        return self.observe()

    def observe(self):
        centre = self.places.mean(0, keepdims=True)
        return np.concatenate([self.places / 3, (centre - self.places) / 3], 1).astype(np.float32)

    def step(self, moves):
        self.places = np.clip(self.places + 0.6 * self.shifts[moves], -3, 3)
        spread = np.linalg.norm(self.places - self.places.mean(0), axis=1)
        return self.observe(), (1 - spread + 0.1 * (moves == 0)).astype(np.float32)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(OBS, 32), nn.Tanh(), nn.Linear(32, MOVES))
        self.critic = nn.Sequential(nn.Linear(OBS, 32), nn.Tanh(), nn.Linear(32, 1))

    def dist(self, obs):
        return Categorical(logits=self.actor(obs))


class Agent:
    def __init__(self, lr=5e-3, epochs=4, clip=0.2):
        self.policy = ActorCritic()
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.old_policy = ActorCritic()
        self.old_policy.load_state_dict(self.policy.state_dict())
        self.old_policy.requires_grad_(False)
        self.epochs, self.clip = epochs, clip
        self.rows = []

    def act(self, obs):
        obs = torch.from_numpy(obs)
        dist = self.old_policy.dist(obs)
        move = dist.sample()
        self.rows.append([obs, move, dist.log_prob(move)])
        return move.item()

    def returns(self):
        total, returns = 0.0, []
        for *_, reward in reversed(self.rows):
            total = reward + GAMMA * total
            returns.insert(0, total)
        return torch.tensor(returns, dtype=torch.float32)

    def update(self):
        obs, moves, old = (torch.stack(column) for column in list(zip(*self.rows))[:3])
        returns = self.returns()
        returns = (returns - returns.mean()) / (returns.std() + 1e-7)
        for _ in range(self.epochs):
            dist, values = self.policy.dist(obs), self.policy.critic(obs).squeeze(-1)
            ratio = (dist.log_prob(moves) - old).exp()
            advantage = returns - values.detach()
            limited = ratio.clamp(1 - self.clip, 1 + self.clip)
            loss = -torch.min(ratio * advantage, limited * advantage).mean()
            loss = loss + 0.5 * (values - returns).pow(2).mean() - 0.01 * dist.entropy().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.old_policy.load_state_dict(self.policy.state_dict())
        self.rows.clear()


room, agents, scores = Room(), [Agent() for _ in range(AGENTS)], []
for episode in range(20):
    obs, score = room.reset(), 0.0
    for _ in range(STEPS):
        moves = np.array([agent.act(row) for agent, row in zip(agents, obs)])
        obs, rewards = room.step(moves)
        for agent, reward in zip(agents, rewards.tolist()):
            agent.rows[-1].append(reward)
        score += float(rewards.mean())
    scores.append(score)
    for agent in agents:
        agent.update()
print(f"{np.mean(scores[:5]):.2f} → {np.mean(scores[-5:]):.2f}")
