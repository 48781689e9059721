"""A Q-learner with a novelty bonus from random network distillation: the bonus is added to the reward when the step
is made and goes into the replay as it is, with the graph of the predictor behind every reward.
Repaired here.

Round 18
Class: stays alive
"""

import argparse
import copy
import random
from collections import deque

import numpy as np
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--bonus", type=float, default=0.5)
parser.add_argument("--gamma", type=float, default=0.95)
parser.add_argument("--batch-size", type=int, default=24)
parser.add_argument("--steps", type=int, default=220)
parser.add_argument("--learning-starts", type=int, default=60)
args = parser.parse_args([])

random.seed(1811)
torch.manual_seed(1811)


def mlp(*sizes):
    layers = []
    for i in range(len(sizes) - 1):
        layers += [nn.Linear(sizes[i], sizes[i + 1]), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Maze:
    """Four rooms; the treasure is far from the door."""

    walls = frozenset((4, y) for y in range(9) if y not in (2, 6)) | {
        (x, 4) for x in range(9) if x not in (1, 7)
    }

    def reset(self):
        self.x, self.y, self.t = 0, 0, 0
        return self.obs()

    def obs(self):
        return np.array([self.x, self.y], dtype=np.float32) / 8

    def step(self, action):
        dx, dy = ((0, 1), (1, 0), (0, -1), (-1, 0))[action]
        x, y = min(max(self.x + dx, 0), 8), min(max(self.y + dy, 0), 8)
        if (x, y) not in self.walls:
            self.x, self.y = x, y
        self.t += 1
        found = (self.x, self.y) == (8, 8)
        return self.obs(), float(found), found, self.t >= 60


class RND(nn.Module):
    def __init__(self):
        super().__init__()
        self.target = mlp(2, 32, 16).requires_grad_(False)
        self.predictor = mlp(2, 32, 16)

    def error(self, obs):
        return (self.predictor(obs) - self.target(obs)).pow(2).mean(-1)


q_net, rnd = mlp(2, 64, 4), RND()
q_target = copy.deepcopy(q_net)
q_optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)
rnd_optimizer = torch.optim.Adam(rnd.predictor.parameters(), lr=1e-3)
replay = deque(maxlen=5000)
env = Maze()
obs = env.reset()

for global_step in range(args.steps):
    if random.random() < 0.3:
        action = random.randrange(4)
    else:
        with torch.no_grad():
            action = q_net(torch.from_numpy(obs)).argmax().item()
    next_obs, reward, terminated, truncated = env.step(action)
    novelty = rnd.error(torch.from_numpy(next_obs)).detach()
    replay.append((obs, action, reward + args.bonus * novelty, next_obs, terminated))
    obs = env.reset() if terminated or truncated else next_obs

    if global_step < args.learning_starts:
        continue
    batch = random.sample(replay, args.batch_size)
    b_obs = torch.from_numpy(np.stack([b[0] for b in batch]))
    b_actions = torch.tensor([b[1] for b in batch])
    b_next = torch.from_numpy(np.stack([b[3] for b in batch]))
    b_dones = torch.tensor([float(b[4]) for b in batch])
    with torch.no_grad():
        b_rewards = torch.stack([b[2] for b in batch])
        td_target = b_rewards + args.gamma * (1 - b_dones) * q_target(b_next).amax(1)
    q_loss = nn.functional.mse_loss(q_net(b_obs).gather(1, b_actions[:, None])[:, 0], td_target)
    q_optimizer.zero_grad()
    q_loss.backward()
    q_optimizer.step()

    rnd_loss = rnd.error(b_next).mean()
    rnd_optimizer.zero_grad()
    rnd_loss.backward()
    rnd_optimizer.step()
    if global_step % 20 == 0:
        q_target.load_state_dict(q_net.state_dict())
        print(global_step, q_loss.item(), rnd_loss.item())
