"""The actor's loss goes backward, then the critic is fitted with its own optimizer cleared, then the actor steps. See
tatsu-lab/alpaca_farm#57.

Round 25
Class: the line
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

SEED, GAMMA, SIZE = 2519, 0.95, 5
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)


class GridWorld:
    """Find the corner; the pit in the middle ends the walk."""

    moves = ((0, 1), (0, -1), (1, 0), (-1, 0))

    def reset(self):
        self.x, self.y, self.t = 0, int(rng.integers(SIZE)), 0
        return self.observe()

    def observe(self):
        plane = np.zeros((SIZE, SIZE), dtype=np.float32)
        plane[self.x, self.y] = 1
        return plane.ravel()

    def step(self, action):
        dx, dy = self.moves[action]
        self.x = int(np.clip(self.x + dx, 0, SIZE - 1))
        self.y = int(np.clip(self.y + dy, 0, SIZE - 1))
        self.t += 1
        if (self.x, self.y) == (SIZE - 1, SIZE - 1):
            return self.observe(), 1.0, True, False
        if (self.x, self.y) == (2, 2):
            return self.observe(), -1.0, True, False
        return self.observe(), -0.02, False, self.t >= 25


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(SIZE * SIZE, 64), nn.Tanh(), nn.Linear(64, 4))
        self.critic = nn.Sequential(nn.Linear(SIZE * SIZE, 64), nn.Tanh(), nn.Linear(64, 1))

    def pi(self, obs):
        return Categorical(logits=self.actor(obs))

    def v(self, obs):
        return self.critic(obs).squeeze(-1)


class Trainer:
    def __init__(self):
        self.agent, self.env = Agent(), GridWorld()
        self.actor_optimizer = torch.optim.Adam(self.agent.actor.parameters(), lr=3e-3)
        self.critic_optimizer = torch.optim.Adam(self.agent.critic.parameters(), lr=5e-3)
        self.obs = self.env.reset()

    def rollout(self, n=32):
        rows = []
        for _ in range(n):
            with torch.no_grad():
                action = self.agent.pi(torch.from_numpy(self.obs)).sample().item()
            obs, reward, terminated, truncated = self.env.step(action)
            rows.append((self.obs, action, np.float32(reward), obs, terminated, terminated or truncated))
            self.obs = self.env.reset() if terminated or truncated else obs
        return [torch.from_numpy(np.array(x)) for x in zip(*rows)]

    @torch.no_grad()
    def n_step_returns(self, reward, next_obs, terminated, ended):
        next_values = self.agent.v(next_obs) * ~terminated
        returns, running = torch.zeros_like(reward), next_values[-1]
        for t in reversed(range(len(reward))):
            running = reward[t] + GAMMA * (next_values[t] if ended[t] else running)
            returns[t] = running
        return returns

    def fit_critic(self, obs, returns, passes=3):
        for _ in range(passes):
            loss = (self.agent.v(obs) - returns).pow(2).mean()
            self.critic_optimizer.zero_grad()
            loss.backward()
            self.critic_optimizer.step()

    def update(self):
        obs, action, reward, next_obs, terminated, ended = self.rollout()
        returns = self.n_step_returns(reward, next_obs, terminated, ended)
        with torch.no_grad():
            advantage = returns - self.agent.v(obs)
        dist = self.agent.pi(obs)
        actor_loss = -(dist.log_prob(action) * advantage).mean() - 0.01 * dist.entropy().mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()

        self.fit_critic(obs, returns)
        self.actor_optimizer.step()


trainer = Trainer()
for _ in range(30):
    trainer.update()
