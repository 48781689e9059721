"""A dueling DQN learns to steer between two walls and trains at every fourth step. Its target network is to
be refreshed at every hundredth, but the counters never agree, so the target keeps its first weights for the
whole run.

Round 34
Class: late and rare
"""

import random

import numpy as np
import torch
import torch.nn as nn

TRAIN_EVERY = 4
SYNC_EVERY = 100
TOTAL_STEPS = 1000
LEARNING_STARTS = 200
GAMMA = 0.97


class Canyon:
    """A glider drifts with the wind; a wall ends the flight, and after fifty steps it is out."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.x, self.drift, self.clock = self.rng.uniform(-0.3, 0.3), 0.0, 0
        return self.observe()

    def observe(self):
        return np.array([self.x, self.drift, self.clock / 50], dtype=np.float32)

    def step(self, action):
        self.drift = 0.8 * self.drift + 0.05 * (action - 1) + 0.02 * self.rng.standard_normal()
        self.x += self.drift
        self.clock += 1
        crashed = abs(self.x) > 1
        return self.observe(), -1.0 if crashed else 0.1, crashed or self.clock == 50


class Dueling(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 64), nn.ReLU())
        self.value = nn.Linear(64, 1)
        self.advantage = nn.Linear(64, 3)

    def forward(self, obs):
        hidden = self.body(obs)
        advantage = self.advantage(hidden)
        return self.value(hidden) + advantage - advantage.mean(dim=1, keepdim=True)


random.seed(352)
torch.manual_seed(352)
env = Canyon(352)
q_net, target_net = Dueling(), Dueling()
target_net.load_state_dict(q_net.state_dict())
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)
memory, losses = [], []
obs = env.reset()

for global_step in range(TOTAL_STEPS):
    epsilon = max(0.1, 1 - global_step / 500)
    if random.random() < epsilon:
        action = random.randrange(3)
    else:
        with torch.no_grad():
            action = q_net(torch.from_numpy(obs)[None]).argmax(dim=1).item()
    next_obs, reward, ended = env.step(action)
    memory.append((obs, action, reward, next_obs, float(ended)))
    obs = env.reset() if ended else next_obs

    if global_step >= LEARNING_STARTS and global_step % TRAIN_EVERY == 0:
        batch = random.sample(memory, 64)
        state, chosen, earned, following, over = (np.array(column) for column in zip(*batch))
        earned = torch.tensor(earned, dtype=torch.float32)
        over = torch.tensor(over, dtype=torch.float32)
        with torch.no_grad():
            best = target_net(torch.from_numpy(following)).max(dim=1).values  # BUG GS307
            target = earned + GAMMA * (1 - over) * best
        q = q_net(torch.from_numpy(state)).gather(1, torch.from_numpy(chosen)[:, None]).squeeze(1)
        loss = nn.functional.mse_loss(q, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

        if (global_step + 1) % SYNC_EVERY == 0:  # BUG GS307
            target_net.load_state_dict(q_net.state_dict())  # BUG GS307

print(f"{len(losses)} updates, mean loss of the last twenty {np.mean(losses[-20:]):.4f}")
