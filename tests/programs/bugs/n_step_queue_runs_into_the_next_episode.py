"""Three-step DQN: the queue of the last steps is not emptied when an episode ends, so windows straddle two episodes."""

import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn

random.seed(3)
torch.manual_seed(3)
N, GAMMA = 3, 0.97
env = gym.make("CartPole-v1")
q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
slow = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
slow.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
memory, queue = deque(maxlen=2000), deque()


def store(last, over):
    state, action = queue[0][:2]
    reward = sum(GAMMA**i * step[2] for i, step in enumerate(queue))  # BUG GS806
    memory.append((state, action, reward, last, float(over), len(queue)))
    queue.popleft()


state, _ = env.reset(seed=3)
for step in range(700):
    action = random.randrange(2)
    following, reward, term, trunc, _ = env.step(action)
    queue.append((state, action, reward))
    if len(queue) == N:
        store(following, term)  # BUG GS806
    state = following
    if term or trunc:
        state, _ = env.reset()
    if step > 200 and step % 10 == 0:
        batch = random.sample(list(memory), 64)
        s, a, r, s2, d, n = (torch.as_tensor(np.array(part), dtype=torch.float32) for part in zip(*batch))
        with torch.no_grad():
            target = r + GAMMA**n * (1 - d) * slow(s2).max(1).values  # BUG GS806
        chosen = q(s).gather(1, a.long().unsqueeze(1)).squeeze(1)
        loss = nn.functional.smooth_l1_loss(chosen, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        slow.load_state_dict(q.state_dict())
