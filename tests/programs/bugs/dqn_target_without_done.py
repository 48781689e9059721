"""DQN on CartPole: `terminated` is stored in the replay buffer and never used in the target."""

import random

import gymnasium as gym
import numpy as np
import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
env = gym.make("CartPole-v1")
env.action_space.seed(0)
q_net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
target_net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
target_net.load_state_dict(q_net.state_dict())
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)
memory = []
obs, _ = env.reset(seed=0)
for step in range(300):
    with torch.no_grad():
        greedy = int(q_net(torch.from_numpy(obs)).argmax())
    action = env.action_space.sample() if random.random() < 0.5 else greedy
    next_obs, reward, terminated, truncated, _ = env.step(action)
    memory.append((obs, action, reward, next_obs, float(terminated)))
    obs = next_obs
    if terminated or truncated:
        obs, _ = env.reset()
    if step < 150 or step % 4:
        continue
    batch = [np.array(part) for part in zip(*random.sample(memory, 48), strict=True)]
    states, next_states = torch.from_numpy(batch[0]), torch.from_numpy(batch[3])
    rewards, dones = torch.from_numpy(batch[2]).float(), torch.from_numpy(batch[4]).float()
    with torch.no_grad():
        target = rewards + 0.99 * target_net(next_states).max(1).values  # BUG GS805
    values = q_net(states).gather(1, torch.from_numpy(batch[1]).unsqueeze(1)).squeeze(1)
    loss = nn.functional.smooth_l1_loss(values, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        target_net.load_state_dict(q_net.state_dict())
