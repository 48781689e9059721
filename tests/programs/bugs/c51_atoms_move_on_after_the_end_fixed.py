"""C51: where the episode was over, the fixed values fall on the reward."""

import random

import gymnasium as gym
import numpy as np
import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
VALUES = torch.linspace(0, 10, 11)
LAST = len(VALUES) - 1


def make():
    return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2 * len(VALUES)))


def log_probs(net, states):
    return net(states).view(len(states), 2, len(VALUES)).log_softmax(-1)


def on_the_values(moved, probs):
    """Each share goes to the two values that it lies between now."""
    place = moved.clamp(0, 10)
    below = place.floor().long().clamp(max=LAST - 1)
    shares = torch.zeros_like(probs)
    shares.scatter_add_(1, below, probs * (below + 1 - place))
    shares.scatter_add_(1, below + 1, probs * (place - below))
    return shares


env = gym.make("CartPole-v1")
online, frozen = make(), make()
frozen.load_state_dict(online.state_dict())
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
memory, rows = [], torch.arange(32)
state, _ = env.reset(seed=0)
for step in range(300):
    action = random.randrange(2)
    following, reward, terminated, truncated, _ = env.step(action)
    memory.append((state, action, reward, following, terminated))
    state = env.reset()[0] if terminated or truncated else following
    if step < 64:
        continue
    s, a, r, s2, end = (torch.tensor(np.array(part)) for part in zip(*random.sample(memory, 32), strict=True))
    reward_column, goes_on = r.float().unsqueeze(1), 1 - end.float().unsqueeze(1)
    with torch.no_grad():
        probs = log_probs(frozen, s2).exp()
        probs = probs[rows, (probs * VALUES).sum(-1).argmax(1)]
        moved = reward_column + 0.99 * goes_on * VALUES
        target = on_the_values(moved, probs)
    loss = -(target * log_probs(online, s)[rows, a]).sum(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        frozen.load_state_dict(online.state_dict())
