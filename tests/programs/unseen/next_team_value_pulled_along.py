"""Value decomposition without target networks: the same function adds up the agents' values now and one step later,
and the later sum goes into the target with its graph. After datawhalechina/easy-rl#117 and
OpenRL-Lab/openrl#136 (TD targets without detach).

Round 27
Class: the line
"""

import random
from collections import deque

import torch
import torch.nn as nn

AGENTS, OBS, ACTIONS = 2, 5, 3


class Doors:
    """Both agents have to stand at the open door at the same time."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def reset(self):
        self.t = 0
        self.door = self.random.randrange(3)
        self.places = [1, 1]
        return self.views()

    def views(self):
        rows = []
        for me in range(AGENTS):
            row = [0.0] * OBS
            row[self.places[me]] = 1.0
            row[3], row[4] = (self.door - 1.0), float(me)
            rows.append(row)
        return rows

    def step(self, actions):
        self.t += 1
        self.places = [min(2, max(0, p + a - 1)) for p, a in zip(self.places, actions)]
        together = all(p == self.door for p in self.places)
        return self.views(), 1.0 if together else -0.05, together, self.t >= 15


class Utilities(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(OBS, 40)
        self.fc2 = nn.Linear(40, ACTIONS)

    def forward(self, views):
        return self.fc2(torch.relu(self.fc1(views)))


def team_value(net, views, actions=None):
    """The sum of the agents' values of the given actions, or of their best ones."""
    q = net(views)
    each = q.max(-1).values if actions is None else q.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
    return each.sum(-1)


def td_loss(net, episode_batch, gamma):
    views, actions, rewards, next_views, dones = [torch.tensor(x) for x in zip(*episode_batch)]
    now = team_value(net, views, actions)
    later = team_value(net, next_views)  # BUG GS301
    target = rewards + gamma * (1.0 - dones) * later  # BUG GS301
    return ((now - target) ** 2).mean()  # BUG GS301


def choose(net, views, epsilon):
    if random.random() < epsilon:
        return [random.randrange(ACTIONS) for _ in range(AGENTS)]
    with torch.no_grad():
        return net(torch.tensor(views)).argmax(-1).tolist()


def run(steps=320, gamma=0.9, seed=2710):
    random.seed(seed)
    torch.manual_seed(seed)
    env, net, memory = Doors(seed), Utilities(), deque(maxlen=1000)
    optimiser = torch.optim.RMSprop(net.parameters(), lr=1e-3, alpha=0.99, eps=1e-5)
    views, scores, score = env.reset(), [], 0.0
    for step in range(steps):
        epsilon = max(0.1, 1.0 - step / 200)
        actions = choose(net, views, epsilon)
        next_views, reward, done, late = env.step(actions)
        memory.append((views, actions, reward, next_views, float(done)))
        score += reward
        views = next_views
        if done or late:
            scores.append(score)
            views, score = env.reset(), 0.0
        if len(memory) >= 64 and step % 3 == 0:
            loss = td_loss(net, random.sample(memory, 32), gamma)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 10.0)
            optimiser.step()
    return sum(scores[-10:]) / 10


print("mean score of the last ten episodes", run())
