"""An actor-critic whose returns are summed in NumPy, behind a loop of environments that hands out records."""

from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
from torch import nn


@dataclass
class Record:
    observation: np.ndarray
    reward: float
    over: bool


class Loop:
    """Starts anew by itself, and returns a record of its own."""

    def __init__(self) -> None:
        self.env = gym.make("CartPole-v1")
        self.observation = self.reset()

    def reset(self) -> np.ndarray:
        return self.env.reset(seed=3)[0]

    def step(self, action: int) -> Record:
        observation, reward, terminated, truncated, _ = self.env.step(action)
        over = terminated or truncated
        self.observation = self.reset() if over else observation
        return Record(observation, float(reward), over)


torch.manual_seed(0)
loop = Loop()
actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-3)
for _ in range(16):
    seen, actions, rewards, ends = [], [], [], []
    for _ in range(24):
        seen.append(loop.observation)
        with torch.no_grad():
            logits = actor(torch.as_tensor(seen[-1])[None])
        actions.append(int(torch.distributions.Categorical(logits=logits).sample()))
        record = loop.step(actions[-1])
        rewards.append(record.reward)
        ends.append(record.over)
    states = torch.as_tensor(np.stack([*seen, loop.observation]))
    with torch.no_grad():
        values = critic(states).squeeze(1).numpy()
    returns, running = np.zeros(24, dtype=np.float32), values[-1]
    for t in reversed(range(24)):
        running = rewards[t] + 0.95 * running * (1.0 - ends[t])
        returns[t] = running
    policy = torch.distributions.Categorical(logits=actor(states[:-1]))
    advantage = torch.as_tensor(returns - values[:-1])
    policy_loss = (policy.log_prob(torch.tensor(actions)) * advantage).mean()  # BUG GS801
    value_loss = nn.functional.mse_loss(critic(states[:-1]).squeeze(1), torch.as_tensor(returns))
    optimizer.zero_grad()
    (policy_loss + 0.5 * value_loss).backward()
    optimizer.step()
