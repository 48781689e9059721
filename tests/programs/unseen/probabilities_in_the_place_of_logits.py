"""A model with a softmax at its end hands its probabilities to a helper whose first argument is called logits.

Round 22
Class: meaning
"""

from typing import NamedTuple

import gymnasium as gym
import torch
from torch import nn


class Step(NamedTuple):
    obs: torch.Tensor
    action: torch.Tensor
    reward: float


def build_model(hidden):
    layers = [nn.Linear(4, hidden), nn.ReLU(), nn.Linear(hidden, 2), nn.Softmax(dim=-1)]
    return nn.Sequential(*layers)


def make_dist(outputs):
    return torch.distributions.Categorical(logits=outputs)  # BUG GS602


def run_episode(env, model, seed):
    obs, _ = env.reset(seed=seed)
    steps, over = [], False
    while not over and len(steps) < 60:
        obs = torch.as_tensor(obs, dtype=torch.float32)
        with torch.no_grad():
            action = make_dist(model(obs)).sample()
        following, reward, terminated, truncated, _ = env.step(action.item())
        steps.append(Step(obs, action, float(reward)))
        obs, over = following, terminated or truncated
    return steps


def returns_to_go(steps, gamma=0.98):
    total, found = 0.0, []
    for step in reversed(steps):
        total = step.reward + gamma * total
        found.append(total)
    return torch.tensor(found[::-1])


def train(episodes=40):
    env = gym.make("CartPole-v1")
    model = build_model(hidden=32)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for episode in range(episodes):
        steps = run_episode(env, model, seed=2213 + episode)
        returns = returns_to_go(steps)
        returns = (returns - returns.mean()) / (returns.std() + 1e-6)
        dist = make_dist(model(torch.stack([s.obs for s in steps])))
        log_probs = dist.log_prob(torch.stack([s.action for s in steps]))
        loss = -(log_probs * returns).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if episode % 10 == 0:
            print(episode, len(steps))


torch.manual_seed(2213)
train()
