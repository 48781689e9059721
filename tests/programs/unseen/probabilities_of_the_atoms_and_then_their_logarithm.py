"""A categorical Q-learner. The network gives probabilities of the atoms, since those are needed for the mean; the loss takes
their logarithm. Fed with millimetres, a head is so sure that a probability is exactly zero, and its logarithm infinite.

Round 20
Class: magnitude
"""

import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

seed = 2016
random.seed(seed)
np.random.seed(seed)
torch.manual_seed(seed)
n_atoms, v_min, v_max, gamma = 31, -10.0, 10.0, 0.9


class Cellar:
    """Five rooms in a row, each with a beacon that is heard in millimetres; the last room pays and ends."""

    def reset(self):
        self.room = np.random.randint(4)
        return self.observe()

    def observe(self):
        return np.array([abs(self.room - beacon) * 800 for beacon in range(5)], dtype=np.float32)

    def step(self, action):
        self.room = max(0, min(4, self.room + (1 if action == 1 else -1)))
        return self.observe(), (8.0 if self.room == 4 else -1.0), self.room == 4


class QNetwork(nn.Module):
    def __init__(self, n_inputs, n_actions):
        super().__init__()
        self.register_buffer("atoms", torch.linspace(v_min, v_max, steps=n_atoms))
        self.n_actions = n_actions
        self.network = nn.Sequential(
            nn.Linear(n_inputs, 64),
            nn.ReLU(),
            nn.Linear(64, 64),
            nn.ReLU(),
            nn.Linear(64, n_actions * n_atoms),
        )

    def get_action(self, x, action=None):
        logits = self.network(x).view(len(x), self.n_actions, n_atoms)
        pmfs = torch.softmax(logits, dim=2)  # BUG GS503 GS602
        q_values = (pmfs * self.atoms).sum(2)
        if action is None:
            action = torch.argmax(q_values, 1)
        return action, pmfs[torch.arange(len(x)), action]


def project(next_pmfs, rewards, dones, atoms):
    next_atoms = (rewards + gamma * atoms * (1 - dones)).clamp(v_min, v_max)
    b = (next_atoms - v_min) / (atoms[1] - atoms[0])
    lower, upper = b.floor().clamp(0, n_atoms - 1), b.ceil().clamp(0, n_atoms - 1)
    d_m_l = (upper + (lower == upper).float() - b) * next_pmfs
    d_m_u = (b - lower) * next_pmfs
    target_pmfs = torch.zeros_like(next_pmfs)
    target_pmfs.scatter_add_(1, lower.long(), d_m_l)
    target_pmfs.scatter_add_(1, upper.long(), d_m_u)
    return target_pmfs


env = Cellar()
q_network, target_network = QNetwork(5, 2), QNetwork(5, 2)
target_network.load_state_dict(q_network.state_dict())
optimizer = optim.Adam(q_network.parameters(), lr=5e-3, eps=0.01 / 32)
rb = deque(maxlen=2000)
obs = env.reset()
losses, length = [], 0
for global_step in range(450):
    epsilon = max(0.1, 1.0 - global_step / 200)
    if random.random() < epsilon:
        action = random.randrange(2)
    else:
        with torch.no_grad():
            action = q_network.get_action(torch.from_numpy(obs).unsqueeze(0))[0].item()
    next_obs, reward, done = env.step(action)
    rb.append((obs, action, [reward], next_obs, [float(done)]))
    obs = env.reset() if done else next_obs

    if global_step > 50:
        rows = zip(*random.sample(rb, 32))
        b_obs, b_actions, b_rewards, b_next, b_dones = (torch.from_numpy(np.array(x)) for x in rows)
        with torch.no_grad():
            _, next_pmfs = target_network.get_action(b_next)
            target_pmfs = project(next_pmfs, b_rewards.float(), b_dones.float(), target_network.atoms)
        _, old_pmfs = q_network.get_action(b_obs, b_actions)
        loss = (-(target_pmfs * old_pmfs.log()).sum(-1)).mean()  # BUG GS503 GS602
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if global_step % 50 == 0:
            target_network.load_state_dict(q_network.state_dict())
print("loss", losses[0], "->", losses[-1])
