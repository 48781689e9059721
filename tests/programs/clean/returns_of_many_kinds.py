"""n-step returns, lambda-returns, generalised advantages and V-trace on episodes that end, each cut where it must be."""

import numpy as np
import torch
from torch import nn

GAMMA, LAMBDA, STEPS = 0.97, 0.9, 40


class Field:
    def __init__(self):
        self.random = np.random.default_rng(0)

    def reset(self):
        self.x = self.random.normal(0.0, 0.3, size=2).astype(np.float32)
        self.age = 0
        return self.x.copy(), {}

    def step(self, action):
        self.x = (self.x + self.random.normal(0.1 * action, 0.4, size=2)).astype(np.float32)
        self.age += 1
        terminated = bool(abs(self.x).max() > 1.5)
        return self.x.copy(), float(self.x.sum()), terminated, self.age >= 10 and not terminated, {}


def n_step(r, end, v, n=3):
    returns = np.zeros(STEPS, dtype=np.float32)
    for t in range(STEPS):
        total, discount = 0.0, 1.0
        for k in range(t, min(t + n, STEPS)):
            total, discount = total + discount * r[k], discount * GAMMA
            if end[k]:
                break
        else:
            total += discount * v[min(t + n, STEPS)]
        returns[t] = total
    return torch.from_numpy(returns)


def lambda_return(r, end, v):
    returns, running = torch.zeros(STEPS), torch.tensor(float(v[STEPS]))
    for t in reversed(range(STEPS)):
        mixed = (1 - LAMBDA) * float(v[t + 1]) + LAMBDA * running
        running = float(r[t]) + GAMMA * (1 - float(end[t])) * mixed
        returns[t] = running
    return returns


def generalised(r, end, v):
    advantages, running = torch.zeros(STEPS), 0.0
    for t in reversed(range(STEPS)):
        delta = r[t] + GAMMA * v[t + 1] * (1 - end[t]) - v[t]
        running = delta + GAMMA * LAMBDA * (1 - end[t]) * running
        advantages[t] = float(running)
    return advantages + torch.as_tensor(v[:STEPS])


def v_trace(r, end, v):
    corrected, running = np.zeros(STEPS), 0.0
    for t in reversed(range(STEPS)):
        rho = min(1.0, 0.5 + 0.01 * t)
        delta = rho * (r[t] + GAMMA * (1 - end[t]) * v[t + 1] - v[t])
        running = delta + GAMMA * (1 - end[t]) * rho * running
        corrected[t] = v[t] + running
    return torch.tensor(corrected, dtype=torch.float32)


torch.manual_seed(0)
env = Field()
policy = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=1e-3)
obs, _ = env.reset()
for number in range(12):
    seen, actions, rewards, ends = [], [], [], []
    for _ in range(STEPS):
        with torch.no_grad():
            action = torch.distributions.Categorical(logits=policy(torch.as_tensor(obs))).sample()
        seen.append(obs)
        actions.append(action)
        obs, reward, terminated, truncated, _ = env.step(int(action))
        rewards.append(reward)
        ends.append(terminated or truncated)
        if ends[-1]:
            obs, _ = env.reset()
    states = torch.as_tensor(np.array([*seen, obs]))
    with torch.no_grad():
        values = critic(states).squeeze(-1).numpy()
    r, end = np.array(rewards, dtype=np.float32), np.array(ends, dtype=np.float32)
    targets = (n_step, lambda_return, generalised, v_trace)[number % 4](r, end, values)
    predicted = critic(states[:-1]).squeeze(-1)
    log_prob = torch.distributions.Categorical(logits=policy(states[:-1])).log_prob(torch.stack(actions))
    loss = (predicted - targets).pow(2).mean() - (log_prob * (targets - predicted.detach())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
