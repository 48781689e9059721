"""The repaired twin of a program in which the following goes wrong.
Double DQN with prioritised replay and losses that are weighted: what is handed to the memory as priorities
are the errors themselves, and every leaf of the tree keeps the graph it came from. After Kaixhin/Rainbow#33.

Round 36
Class: stays alive
"""

import random

import gymnasium as gym
import numpy as np
import torch
from torch import nn, optim


class SegmentTree:
    """The leaves are held beside the sums, so that a priority can be asked for as it was given."""

    def __init__(self, size):
        self.size, self.index, self.count = size, 0, 0
        self.sum_tree = np.zeros(2 * size)
        self.priorities = [0.0] * size
        self.data = [None] * size
        self.max = 1.0

    def update(self, index, priority):
        self.priorities[index] = priority
        node = index + self.size
        self.sum_tree[node] = float(priority)
        while node > 1:
            node //= 2
            self.sum_tree[node] = self.sum_tree[2 * node] + self.sum_tree[2 * node + 1]
        self.max = max(float(priority), self.max)

    def append(self, data, priority):
        self.data[self.index] = data
        self.update(self.index, priority)
        self.index = (self.index + 1) % self.size
        self.count = min(self.count + 1, self.size)

    def find(self, value):
        node = 1
        while node < self.size:
            left = 2 * node
            if value <= self.sum_tree[left] or self.sum_tree[left + 1] == 0.0:
                node = left
            else:
                value, node = value - self.sum_tree[left], left + 1
        return node - self.size


class ReplayMemory:
    def __init__(self, capacity=512, priority_weight=0.4, priority_exponent=0.5):
        self.transitions = SegmentTree(capacity)
        self.priority_weight, self.priority_exponent = priority_weight, priority_exponent

    def append(self, *transition):
        self.transitions.append(transition, self.transitions.max)

    def sample(self, batch_size):
        total = self.transitions.sum_tree[1]
        segment = total / batch_size
        idxs = [
            self.transitions.find(random.uniform(i * segment, (i + 1) * segment)) for i in range(batch_size)
        ]
        probs = np.array([float(self.transitions.priorities[i]) for i in idxs]) / total
        weights = (self.transitions.count * probs) ** -self.priority_weight
        states, actions, rewards, next_states, nonterminals = zip(*(self.transitions.data[i] for i in idxs))
        return (
            idxs,
            torch.from_numpy(np.stack(states)),
            torch.tensor(actions),
            torch.tensor(rewards, dtype=torch.float32),
            torch.from_numpy(np.stack(next_states)),
            torch.tensor(nonterminals, dtype=torch.float32),
            torch.tensor(weights / weights.max(), dtype=torch.float32),
        )

    def update_priorities(self, idxs, errors):
        for idx, error in zip(idxs, errors):
            self.transitions.update(idx, (error + 1e-4) ** self.priority_exponent)


class Agent:
    def __init__(self, discount=0.99, batch_size=32):
        self.discount, self.batch_size = discount, batch_size
        self.online_net, self.target_net = self.build(), self.build()
        self.update_target_net()
        self.optimiser = optim.Adam(self.online_net.parameters(), lr=1e-3, eps=1.5e-4)

    @staticmethod
    def build():
        return nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))

    def act(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(2)
        with torch.no_grad():
            return self.online_net(torch.from_numpy(state)[None]).argmax(1).item()

    def learn(self, mem):
        idxs, states, actions, rewards, next_states, nonterminals, weights = mem.sample(self.batch_size)
        qs = self.online_net(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            best = self.online_net(next_states).argmax(1, keepdim=True)
            next_qs = self.target_net(next_states).gather(1, best).squeeze(1)
            targets = rewards + nonterminals * self.discount * next_qs
        errors = (qs - targets).abs()
        losses = torch.where(errors < 1.0, 0.5 * errors**2, errors - 0.5)
        self.optimiser.zero_grad()
        (weights * losses).mean().backward()
        nn.utils.clip_grad_norm_(self.online_net.parameters(), 10.0)
        self.optimiser.step()
        mem.update_priorities(idxs, errors.detach())
        return losses.mean().item()

    def update_target_net(self):
        self.target_net.load_state_dict(self.online_net.state_dict())


SEED = 3618
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)
env, dqn, mem = gym.make("CartPole-v1"), Agent(), ReplayMemory()
state, _ = env.reset(seed=SEED)
for T in range(1, 301):
    action = dqn.act(state, epsilon=max(0.05, 1 - T / 150))
    next_state, reward, terminated, truncated, _ = env.step(action)
    mem.append(state, action, reward, next_state, not terminated)
    state = env.reset()[0] if terminated or truncated else next_state
    if T >= 100:
        loss = dqn.learn(mem)
        if T % 50 == 0:
            dqn.update_target_net()
print(f"loss {loss:.4f}, largest priority {mem.transitions.max:.3f}")
