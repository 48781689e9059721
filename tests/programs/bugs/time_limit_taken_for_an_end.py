"""DQN on an environment with a time limit: `terminated or truncated` masks the next value in both cases."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(0)
env = gym.make("CartPole-v1", max_episode_steps=15)
env.action_space.seed(0)
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
frozen = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
frozen.load_state_dict(net.state_dict())
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
replay = []
obs, _ = env.reset(seed=1)
for step in range(260):
    action = int(env.action_space.sample())
    next_obs, reward, terminated, truncated, _ = env.step(action)
    done = terminated or truncated
    replay.append((obs, action, reward, next_obs, done))
    obs = env.reset()[0] if terminated or truncated else next_obs
    if step < 120 or step % 5:
        continue
    rows = [replay[i] for i in rng.choice(len(replay), 64, replace=False)]
    s, a, r, s2, d = (torch.as_tensor(np.array(part)) for part in zip(*rows, strict=True))
    with torch.no_grad():
        following = frozen(s2).max(1).values
        following[d] = 0.0
        y = r.float() + 0.98 * following  # BUG GS805
    loss = (net(s).gather(1, a[:, None])[:, 0] - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    frozen.load_state_dict(net.state_dict())
