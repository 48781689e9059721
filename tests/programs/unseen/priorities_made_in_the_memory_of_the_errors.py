"""Prioritised replay is handed the data of the errors before the loss goes backward, and makes its priorities in place:
the squares are differentiated at numbers that have lost their sign.

Round 16
Class: hidden writes
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

torch.manual_seed(1609)
rng = np.random.default_rng(1609)


@dataclass
class Args:
    capacity: int = 512
    batch_size: int = 32
    multi_step: int = 3
    discount: float = 0.95
    priority_exponent: float = 0.5
    priority_weight: float = 0.4
    target_update: int = 15
    lr: float = 1e-3
    norm_clip: float = 10.0


class ReplayMemory:
    """Transitions over several steps, drawn by their priority."""

    def __init__(self, args):
        self.args, self.data = args, []
        self.priorities = np.zeros(args.capacity, dtype=np.float32)

    def append(self, transition):
        self.priorities[len(self.data)] = self.priorities.max() or 1.0
        self.data.append(transition)

    def sample(self):
        p = self.priorities[: len(self.data)] / self.priorities[: len(self.data)].sum()
        idxs = rng.choice(len(self.data), self.args.batch_size, p=p)
        weights = (len(self.data) * p[idxs]) ** -self.args.priority_weight
        columns = [np.stack(column) for column in zip(*[self.data[i] for i in idxs])]
        tensors = [torch.from_numpy(column) for column in columns]
        return idxs, tensors, torch.from_numpy((weights / weights.max()).astype(np.float32))

    def update_priorities(self, idxs, priorities):
        priorities.abs_().add_(1e-3).pow_(self.args.priority_exponent)  # BUG GS104
        self.priorities[idxs] = priorities.numpy()


class DQN(nn.Module):
    def __init__(self, inputs=6, actions=3):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(inputs, 40), nn.ReLU())
        self.value, self.advantage = nn.Linear(40, 1), nn.Linear(40, actions)

    def forward(self, x):
        hidden = self.features(x)
        a = self.advantage(hidden)
        return self.value(hidden) + a - a.mean(1, keepdim=True)


class Agent:
    def __init__(self, args):
        self.args, self.updates = args, 0
        self.online_net, self.target_net = DQN(), DQN().requires_grad_(False)
        self.target_net.load_state_dict(self.online_net.state_dict())
        self.optimiser = torch.optim.Adam(self.online_net.parameters(), lr=args.lr)

    def act(self, state, epsilon=0.2):
        if rng.random() < epsilon:
            return int(rng.integers(3))
        with torch.no_grad():
            return self.online_net(torch.from_numpy(state)[None]).argmax(1).item()

    def learn(self, mem):
        idxs, (states, actions, returns, nth_states, nonterminals), weights = mem.sample()
        with torch.no_grad():
            best = self.online_net(nth_states).argmax(1, keepdim=True)
            ahead = self.target_net(nth_states).gather(1, best).squeeze(1)
            goal = returns + nonterminals * self.args.discount**self.args.multi_step * ahead
        errors = self.online_net(states).gather(1, actions.unsqueeze(1)).squeeze(1) - goal
        loss = (weights * errors.pow(2)).mean()
        mem.update_priorities(idxs, errors.data)  # BUG GS104
        self.online_net.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.online_net.parameters(), self.args.norm_clip)
        self.optimiser.step()
        self.updates += 1
        if self.updates % self.args.target_update == 0:
            self.target_net.load_state_dict(self.online_net.state_dict())
        return loss.item()


def episode(agent, args, length=14):
    """Transitions of one episode, each with the return of its next steps."""
    states, actions, rewards = [rng.normal(size=6).astype(np.float32)], [], []
    for _ in range(length):
        actions.append(agent.act(states[-1]))
        rewards.append(float(states[-1][actions[-1]] - states[-1][:3].mean()))
        states.append((0.7 * states[-1] + 0.5 * rng.normal(size=6)).astype(np.float32))
    for t in range(length):
        end = min(t + args.multi_step, length)
        total = sum(args.discount**k * reward for k, reward in enumerate(rewards[t:end]))
        going = np.float32(t + args.multi_step < length)
        yield states[t], np.int64(actions[t]), np.float32(total), states[end], going


args = Args()
agent, mem = Agent(args), ReplayMemory(args)
for number in range(30):
    for transition in episode(agent, args):
        mem.append(transition)
    if number >= 4:
        losses = [agent.learn(mem) for _ in range(3)]
        if number % 8 == 0:
            print(number, np.mean(losses))
