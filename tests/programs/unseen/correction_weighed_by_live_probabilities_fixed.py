"""The bias correction of an off-policy actor-critic is weighed by constant probabilities.

Round 15
Class: stays alive
"""

import random

import torch
import torch.nn.functional as F
from torch import nn

random.seed(1505)
torch.manual_seed(1505)
ACTIONS, GAMMA, LIMIT = 4, 0.96, 1.0


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.common = nn.Sequential(nn.Linear(5, 48), nn.ReLU())
        self.policy, self.q = nn.Linear(48, ACTIONS), nn.Linear(48, ACTIONS)

    def forward(self, x):
        h = self.common(x)
        return F.log_softmax(self.policy(h), -1), self.q(h)


class Memory:
    def __init__(self):
        self.sequences = []

    def put(self, sequence):
        self.sequences = [*self.sequences[-199:], sequence]

    def sample(self, count, newest=False):
        chosen = self.sequences[-1:] if newest else random.sample(self.sequences, count)
        return [torch.cat(column) for column in zip(*chosen)]


def play(model, length=10):
    state, rows = torch.randn(1, 5), []
    with torch.no_grad():
        for t in range(length):
            log_pi, _ = model(state)
            action = torch.multinomial(log_pi.exp(), 1)
            reward = (action.squeeze(1) == (state[:, 0] > 0).long() + 2 * (state[:, 1] > 0).long()).float()
            going_on, first = torch.tensor([float(t < length - 1)]), torch.tensor([t == 0])
            rows.append((state, action, reward, log_pi.exp(), going_on, first))
            state = 0.7 * state + 0.5 * torch.randn(1, 5)
    return [torch.cat(column) for column in zip(*rows)]


def retrace(q_a, v, rho_bar, reward, going_on, first):
    q_ret, targets = v[-1] * going_on[-1], []
    for i in reversed(range(len(reward))):
        q_ret = reward[i] + GAMMA * q_ret * going_on[i]
        targets.append(q_ret)
        q_ret = rho_bar[i] * (q_ret - q_a[i]) + v[i]
        if first[i] and i != 0:
            q_ret = v[i - 1] * going_on[i - 1]
    return torch.stack(targets[::-1])


def train(model, optimizer, memory, newest):
    state, action, reward, behaviour, going_on, first = memory.sample(4, newest)
    log_pi, q = model(state)
    pi = log_pi.exp()
    q_a, log_pi_a = q.gather(1, action).squeeze(1), log_pi.gather(1, action).squeeze(1)
    with torch.no_grad():
        v = (q * pi).sum(1)
        rho = pi / behaviour
        rho_bar = rho.gather(1, action).squeeze(1).clamp(max=LIMIT)
        correction = (1 - LIMIT / rho).clamp(min=0)
        q_ret = retrace(q_a, v, rho_bar, reward, going_on, first)
    loss1 = -rho_bar * log_pi_a * (q_ret - v)
    loss2 = -correction * pi.detach() * log_pi * (q.detach() - v.unsqueeze(1))
    loss = loss1 + loss2.sum(1) + F.smooth_l1_loss(q_a, q_ret)
    optimizer.zero_grad()
    loss.mean().backward()
    optimizer.step()
    return loss.mean().item()


def main():
    model, memory = Network(), Memory()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for number in range(60):
        memory.put(play(model))
        loss = train(model, optimizer, memory, newest=True)
        if len(memory.sequences) > 8:
            loss = train(model, optimizer, memory, newest=False)
        if number % 20 == 0:
            print(number, loss)


main()
