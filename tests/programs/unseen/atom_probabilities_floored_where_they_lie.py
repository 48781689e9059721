"""A distributional DQN keeps the probabilities of the atoms away from zero with an in-place clamp on the softmax,
whose own output backward needs. After toshikwa/gail-airl-ppo.pytorch#13 (clamp_ inside the network's forward).

Round 27
Class: forward errors
"""

import random
from collections import deque

import torch
from torch import nn

torch.manual_seed(2702)
random.seed(2702)

V_MIN, V_MAX, ATOMS = -2.0, 2.0, 21
GAMMA = 0.9
DELTA = (V_MAX - V_MIN) / (ATOMS - 1)
SUPPORT = torch.linspace(V_MIN, V_MAX, ATOMS)


class Corridor:
    n_states, n_actions = 7, 2

    def reset(self):
        self.place, self.time = 3, 0
        return self.place

    def step(self, action):
        self.time += 1
        self.place += 1 if action == 1 else -1
        end = self.place in (0, 6)
        reward = 1.0 if self.place == 6 else (-1.0 if self.place == 0 else -0.02)
        return self.place, reward, end, self.time >= 30


class CategoricalNet(nn.Module):
    def __init__(self, n_states, n_actions):
        super().__init__()
        self.n_actions = n_actions
        self.embed = nn.Embedding(n_states, 24)
        self.hidden = nn.Linear(24, 48)
        self.out = nn.Linear(48, n_actions * ATOMS)

    def dist(self, states):
        x = torch.relu(self.hidden(self.embed(states)))
        probs = self.out(x).view(-1, self.n_actions, ATOMS).softmax(dim=-1)
        return probs.clamp_(min=1e-3)  # BUG GS101

    def forward(self, states):
        return (self.dist(states) * SUPPORT).sum(-1)


def project(target_net, rewards, next_states, ends):
    with torch.no_grad():
        next_dist = target_net.dist(next_states)
        best = (next_dist * SUPPORT).sum(-1).argmax(1)
        next_dist = next_dist[torch.arange(len(best)), best]
        next_dist = next_dist / next_dist.sum(1, keepdim=True)
        tz = (rewards[:, None] + GAMMA * (1 - ends[:, None]) * SUPPORT).clamp(V_MIN, V_MAX)
        b = (tz - V_MIN) / DELTA
        low = b.floor().long().clamp(0, ATOMS - 2)
        share = b - low
        m = torch.zeros_like(next_dist)
        m.scatter_add_(1, low, next_dist * (1 - share))
        m.scatter_add_(1, low + 1, next_dist * share)
    return m


def update(net, target_net, optimizer, batch):
    states, actions, rewards, next_states, ends = (torch.tensor(c) for c in zip(*batch))
    m = project(target_net, rewards, next_states, ends)
    chosen = net.dist(states)[torch.arange(len(actions)), actions]
    loss = -(m * chosen.log()).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    env = Corridor()
    net, target_net = (CategoricalNet(env.n_states, env.n_actions) for _ in range(2))
    target_net.load_state_dict(net.state_dict())
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    memory, state, updates = deque(maxlen=2000), env.reset(), 0
    for step in range(220):
        if random.random() < 0.3:
            action = random.randrange(env.n_actions)
        else:
            with torch.no_grad():
                action = int(net(torch.tensor([state])).argmax())
        nxt, reward, end, late = env.step(action)
        memory.append((state, action, reward, nxt, float(end)))
        state = env.reset() if end or late else nxt
        if len(memory) >= 100:
            loss = update(net, target_net, optimizer, random.sample(memory, 32))
            updates += 1
            if updates % 10 == 0:
                target_net.load_state_dict(net.state_dict())
    print(updates, loss)


main()
