"""PPO with a buffer of NumPy arrays, in shuffled parts: at an end, the value of the next start is taken."""

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import nn
from torch.nn.functional import mse_loss

STEPS, COPIES, GAMMA, LAMBDA = 40, 2, 0.99, 0.9


class Buffer:
    def __init__(self):
        self.seen = np.zeros((STEPS, COPIES, 4), np.float32)
        self.actions = np.zeros((STEPS, COPIES), np.int64)
        self.scores, self.rewards, self.values, self.ends, self.advantages = np.zeros(
            (5, STEPS, COPIES), np.float32
        )

    def fill(self, t, obs, action, score, reward, value, end):
        self.seen[t], self.actions[t], self.rewards[t], self.ends[t] = obs, action, reward, end
        self.scores[t], self.values[t] = score.numpy(), value.numpy()

    def finish(self, following):
        last = 0.0
        for t in reversed(range(STEPS)):
            goes_on = 1.0 - self.ends[t]
            ahead = following if t + 1 == STEPS else self.values[t + 1]
            delta = self.rewards[t] + GAMMA * ahead - self.values[t]  # BUG GS806
            last = delta + GAMMA * LAMBDA * last * goes_on  # BUG GS806
            self.advantages[t] = last
        self.returns = self.advantages + self.values

    def parts(self, rows):
        data = (self.seen, self.actions, self.scores, self.advantages, self.returns)
        return [torch.tensor(part.reshape(STEPS * COPIES, *part.shape[2:])[rows]) for part in data]


torch.manual_seed(0)
random = np.random.default_rng(0)
envs = SyncVectorEnv([lambda: gym.make("CartPole-v1")] * COPIES, autoreset_mode=AutoresetMode.SAME_STEP)
pi, v = (nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, n)) for n in (2, 1))
optimizer = torch.optim.Adam([*pi.parameters(), *v.parameters()], lr=2e-3)
obs, _ = envs.reset(seed=0)
for _ in range(3):
    buffer = Buffer()
    for t in range(STEPS):
        with torch.no_grad():
            value, dist = (
                v(torch.tensor(obs)).squeeze(-1),
                torch.distributions.Categorical(logits=pi(torch.tensor(obs))),
            )
            action = dist.sample()
        following, reward, terminated, truncated, _ = envs.step(action.numpy())
        buffer.fill(t, obs, action.numpy(), dist.log_prob(action), reward, value, terminated | truncated)
        obs = following
    with torch.no_grad():
        buffer.finish(v(torch.tensor(obs)).squeeze(-1).numpy())
    for _ in range(2):
        for rows in random.permutation(STEPS * COPIES).reshape(2, -1):
            seen, actions, scores, advantages, returns = buffer.parts(rows)
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
            ratio = (torch.distributions.Categorical(logits=pi(seen)).log_prob(actions) - scores).exp()
            surrogate = torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
            loss = 0.5 * mse_loss(v(seen).squeeze(-1), returns) - surrogate
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
