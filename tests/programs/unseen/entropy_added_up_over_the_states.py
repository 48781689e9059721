"""Actor-critic on a bandit with contexts: the entropy sums p log p over the states of the batch and averages over
the actions, which makes the bonus many times too large and grow with the batch. After RLinf/RLinf#1565 (entropy
bonus scaled by the micro-batch) and JuliaReinforcementLearning/ReinforcementLearningZoo.jl#169.

Round 26
Class: meaning
"""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    contexts: int = 6
    actions: int = 4
    batch_size: int = 48
    horizon: int = 3
    gamma: float = 0.9
    entropy_coef: float = 0.01
    lr: float = 5e-3
    updates: int = 60
    seed: int = 2631


class ContextGame:
    """Three rounds; each shows a noisy context and pays for the action that belongs to it."""

    def __init__(self, c):
        self.c, self.rng = c, np.random.default_rng(c.seed)
        self.right = self.rng.integers(0, c.actions, c.contexts)

    def reset(self):
        self.round = 0
        return self._draw()

    def _draw(self):
        self.context = int(self.rng.integers(self.c.contexts))
        observation = self.rng.normal(0, 0.2, self.c.contexts).astype(np.float32)
        observation[self.context] += 1.0
        return observation

    def step(self, action):
        reward = float(action == self.right[self.context])
        self.round += 1
        return self._draw(), reward, self.round == self.c.horizon


class Agent(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(c.contexts, 32), nn.ReLU())
        self.policy_head, self.value_head = nn.Linear(32, c.actions), nn.Linear(32, 1)

    def forward(self, obs):
        hidden = self.shared(obs)
        return self.policy_head(hidden), self.value_head(hidden).squeeze(-1)


@torch.no_grad()
def collect(env, agent, obs, c):
    rows = []
    for _ in range(c.batch_size):
        logits, _ = agent(torch.from_numpy(obs))
        action = int(torch.multinomial(logits.softmax(-1), 1))
        next_obs, reward, done = env.step(action)
        rows.append((obs, action, reward, next_obs, float(done)))
        obs = env.reset() if done else next_obs
    columns = [np.array(column) for column in zip(*rows)]
    return [torch.from_numpy(column) for column in columns], obs


def entropy_of(logits):
    log_probs = F.log_softmax(logits, dim=1)
    probs = log_probs.exp()
    return -(probs * log_probs).sum(dim=0).mean()  # BUG GS604


def loss_of(agent, batch, c):
    obs, actions, rewards, next_obs, ends = batch
    logits, values = agent(obs)
    with torch.no_grad():
        targets = rewards.float() + c.gamma * (1 - ends.float()) * agent(next_obs)[1]
    advantages = targets - values.detach()
    chosen = F.log_softmax(logits, dim=1).gather(1, actions[:, None]).squeeze(1)
    policy_loss = -(chosen * advantages).mean()
    return policy_loss + 0.5 * F.mse_loss(values, targets) - c.entropy_coef * entropy_of(logits)


def main(c):
    torch.manual_seed(c.seed)
    env, agent = ContextGame(c), Agent(c)
    optimizer = torch.optim.Adam(agent.parameters(), lr=c.lr)
    obs = env.reset()
    for update in range(c.updates):
        batch, obs = collect(env, agent, obs, c)
        loss = loss_of(agent, batch, c)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if update % 15 == 0:
            print(update, round(batch[2].mean().item(), 3))


main(Config())
