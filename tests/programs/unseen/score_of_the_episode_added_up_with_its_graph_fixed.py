"""A policy learns from a reward network that is fitted to pairwise preferences. For the plot of the score, the learned
rewards of an episode are added up as they come out of the network and kept in a list: every point of the curve holds
the graph of a whole episode.
Repaired here.

Round 19
Class: stays alive
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1908)
rng = np.random.default_rng(1908)

LENGTH = 10
policy = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 3))
reward_net = nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Linear(24, 1))
policy_opt = torch.optim.Adam(policy.parameters(), lr=5e-3)
reward_opt = torch.optim.Adam(reward_net.parameters(), lr=5e-3)
score_history = []
segments = []


def move(place, action):
    place = place + 0.2 * np.array([action - 1, 0.5 * (action == 1)]) + 0.02 * rng.standard_normal(2)
    return np.clip(place, -1, 1)


def run_episode():
    """Plays one episode and returns what REINFORCE needs; the score is for the plot only."""
    place = rng.uniform(-1, 1, size=2)
    log_probs, rewards, visited = [], [], []
    score = 0.0
    for _ in range(LENGTH):
        dist = Categorical(logits=policy(torch.tensor(place, dtype=torch.float32)))
        action = dist.sample()
        place = move(place, action.item())
        here = torch.tensor(place, dtype=torch.float32)
        reward = reward_net(here)
        score += reward.item()
        log_probs.append(dist.log_prob(action))
        rewards.append(reward.item())
        visited.append(here)
    score_history.append(score)
    segments.append(torch.stack(visited))
    return torch.stack(log_probs), np.array(rewards)


def improve_policy(log_probs, rewards, gamma=0.9):
    returns = np.zeros(LENGTH)
    running = 0.0
    for t in reversed(range(LENGTH)):
        running = rewards[t] + gamma * running
        returns[t] = running
    weights = torch.tensor((returns - returns.mean()) / (returns.std() + 1e-6), dtype=torch.float32)
    policy_loss = -(log_probs * weights).mean()
    policy_opt.zero_grad()
    policy_loss.backward()
    policy_opt.step()


def judge(segment):
    """The person in the loop likes the right upper corner."""
    return (segment - 0.7).pow(2).sum().neg().item()


def fit_preferences(pairs=8):
    first, second = (
        torch.stack([segments[i] for i in rng.integers(len(segments), size=pairs)]) for _ in "ab"
    )
    preferred = torch.tensor([float(judge(a) > judge(b)) for a, b in zip(first, second)])
    logits = reward_net(first).sum((1, 2)) - reward_net(second).sum((1, 2))
    loss = nn.functional.binary_cross_entropy_with_logits(logits, preferred)
    reward_opt.zero_grad()
    loss.backward()
    reward_opt.step()


for episode in range(60):
    improve_policy(*run_episode())
    if episode >= 4:
        fit_preferences()
curve = [float(score) for score in score_history]
print("first and last scores", np.mean(curve[:10]), np.mean(curve[-10:]))
