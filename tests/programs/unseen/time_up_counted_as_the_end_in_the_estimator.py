"""An advantage estimator asks for "done" twice: episodes cut by the clock are treated as if they had ended.

Round 13
Class: meaning
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(1316)


class Drift(gym.Env):
    observation_space = gym.spaces.Box(-10, 10, (3,), np.float32)
    action_space = gym.spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.v, self.t = self.np_random.normal() * 0.3, 0.0, 0
        return self.see(), {}

    def see(self):
        return np.array([self.x, self.v, 1.0], np.float32)

    def step(self, action):
        self.v = 0.8 * self.v + 0.3 * float(np.clip(action[0], -1, 1)) + 0.05 * self.np_random.normal()
        self.x += 0.2 * self.v
        self.t += 1
        return self.see(), 1.0 - self.x**2, abs(self.x) > 2.5, False, {}


env = gym.wrappers.TimeLimit(Drift(), max_episode_steps=25)
actor, critic = nn.Linear(3, 1), nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
log_std = nn.Parameter(torch.full((1,), -0.5))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters(), log_std], lr=3e-3)


def estimate(batch, gamma=0.97, lam=0.9):
    done = batch["done"]
    terminated = batch.get("ended", done)  # BUG GS805
    with torch.no_grad():
        value, ahead = critic(batch["obs"]).squeeze(-1), critic(batch["next"]).squeeze(-1)
        delta = batch["reward"] + gamma * (1 - terminated) * ahead - value  # BUG GS805
        advantage, last = torch.zeros_like(delta), 0.0
        for t in reversed(range(len(delta))):
            last = delta[t] + gamma * lam * (1 - done[t]) * last
            advantage[t] = last
    return advantage, advantage + value


obs, _ = env.reset(seed=1316)
for update in range(30):
    rows = {key: [] for key in ("obs", "next", "action", "reward", "done", "terminated")}
    for _ in range(60):
        with torch.no_grad():
            action = Normal(actor(torch.as_tensor(obs)), log_std.exp()).sample()
        nxt, reward, terminated, truncated, _ = env.step(action.numpy())
        for key, value in zip(rows, (obs, nxt, action.numpy(), reward, terminated or truncated, terminated)):
            rows[key].append(value)
        obs = env.reset()[0] if terminated or truncated else nxt
    batch = {key: torch.as_tensor(np.array(value), dtype=torch.float32) for key, value in rows.items()}
    advantage, returns = estimate(batch)
    log_prob = Normal(actor(batch["obs"]), log_std.exp()).log_prob(batch["action"]).sum(-1)
    weight = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
    loss = -(weight * log_prob).mean() + 0.5 * (critic(batch["obs"]).squeeze(-1) - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
