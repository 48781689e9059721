"""The soft update multiplies the target's parameters in place while gradients are on and they require grad.

Class: forward errors
"""

import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(8)
rng = np.random.default_rng(8)

q_net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
target_net = copy.deepcopy(q_net)
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)
TAU, GAMMA = 0.05, 0.9


def sample(batch=32):
    obs = rng.normal(size=(batch, 4)).astype(np.float32)
    action = rng.integers(0, 3, size=batch)
    reward = obs[np.arange(batch), action]
    return (
        torch.from_numpy(obs),
        torch.from_numpy(action),
        torch.from_numpy(reward),
        torch.from_numpy(rng.normal(size=(batch, 4)).astype(np.float32)),
    )


def td_loss(batch):
    obs, action, reward, next_obs = batch
    with torch.no_grad():
        target = reward + GAMMA * target_net(next_obs).max(1).values
    chosen = q_net(obs).gather(1, action.unsqueeze(1)).squeeze(1)
    return F.smooth_l1_loss(chosen, target)


for update in range(150):
    loss = td_loss(sample())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for old, new in zip(target_net.parameters(), q_net.parameters()):
        old.mul_(1 - TAU)  # BUG GS103
        old.add_(TAU * new)  # BUG GS103
