"""One state at a time, and the softmax runs over the actions."""

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(4)
env = gym.make("CartPole-v1")
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)


def policy(state):
    logits = net(torch.as_tensor(state).unsqueeze(0))
    return torch.log_softmax(logits, dim=-1)


for episode in range(8):
    s, _ = env.reset(seed=episode)
    logps, rewards, done = [], [], False
    while not done:
        p = policy(s)
        a = torch.multinomial(p.exp(), 1)
        logps.append(p.gather(1, a).squeeze())
        s, r, term, trunc, _ = env.step(a.item())
        rewards.append(r)
        done = term or trunc
    G, ret = 0.0, []
    for r in reversed(rewards):
        G = r + 0.99 * G
        ret.insert(0, G)
    ret = torch.tensor(ret)
    ret = (ret - ret.mean()) / (ret.std() + 1e-6)
    loss = -(torch.stack(logps) * ret).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
