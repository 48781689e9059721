"""A loop that chooses its next action ahead keeps that one beside the observation that the last one was for."""

import random

import gymnasium as gym
import numpy as np
import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
env = gym.make("Acrobot-v1")
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))
old = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))
old.load_state_dict(net.state_dict())
opt = torch.optim.RMSprop(net.parameters(), 1e-3)


def act(obs):
    if random.random() < 0.3:
        return random.randrange(3)
    with torch.no_grad():
        return int(net(torch.from_numpy(obs).unsqueeze(0)).argmax())


replay = []
obs, _ = env.reset(seed=0)
action = act(obs)
for step in range(500):
    nxt, reward, terminated, truncated, _ = env.step(action)
    following = act(nxt)
    replay.append((obs, action, reward, nxt, terminated))
    obs, action = nxt, following
    if terminated or truncated:
        obs, _ = env.reset()
        action = act(obs)
    if step >= 50:
        o, a, r, n, d = zip(*random.sample(replay, 40))
        o, n = torch.from_numpy(np.stack(o)), torch.from_numpy(np.stack(n))
        a, r, d = torch.tensor(a), torch.tensor(r, dtype=torch.float32), torch.tensor(d, dtype=torch.float32)
        with torch.no_grad():
            goal = r + 0.99 * (1 - d) * old(n).max(1)[0]
        said = net(o).gather(1, a[:, None]).squeeze(1)
        loss = (said - goal).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    if step % 100 == 0:
        old.load_state_dict(net.state_dict())
