"""All losses of an update are computed first; the two values step one after the other, and then the policy's loss, which
Repaired here.
went through them, asks for weights that are gone.

Round 14
Class: the line
"""

import copy
import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal


class ReplayMemory:
    def __init__(self, capacity):
        self.capacity, self.buffer, self.position = capacity, [], 0

    def push(self, *row):
        if len(self.buffer) < self.capacity:
            self.buffer.append(row)
        else:
            self.buffer[self.position] = row
        self.position = (self.position + 1) % self.capacity

    def sample(self, count):
        rows = random.sample(self.buffer, count)
        return [torch.tensor(np.stack(column), dtype=torch.float32) for column in zip(*rows, strict=True)]


class QNetwork(nn.Module):
    def __init__(self, inputs, actions, hidden=24):
        super().__init__()
        self.a1, self.a2 = nn.Linear(inputs + actions, hidden), nn.Linear(hidden, 1)
        self.b1, self.b2 = nn.Linear(inputs + actions, hidden), nn.Linear(hidden, 1)

    def forward(self, state, action):
        xu = torch.cat([state, action], 1)
        return self.a2(F.relu(self.a1(xu))), self.b2(F.relu(self.b1(xu)))


class Policy(nn.Module):
    def __init__(self, inputs, actions, hidden=24):
        super().__init__()
        self.hidden, self.out = nn.Linear(inputs, hidden), nn.Linear(hidden, 2 * actions)

    def sample(self, state):
        mean, log_std = self.out(F.relu(self.hidden(state))).chunk(2, dim=1)
        normal = Normal(mean, log_std.clamp(-5, 1).exp())
        x = normal.rsample()
        correction = 2 * (np.log(2) - x - F.softplus(-2 * x))
        return torch.tanh(x), (normal.log_prob(x) - correction).sum(1, keepdim=True)


class SAC:
    def __init__(self, inputs, actions, gamma=0.95, tau=0.01):
        self.gamma, self.tau, self.target_entropy = gamma, tau, -float(actions)
        self.critic, self.policy = QNetwork(inputs, actions), Policy(inputs, actions)
        self.critic_target = copy.deepcopy(self.critic)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.policy_optim = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.log_alpha = torch.full((1,), -2.0, requires_grad=True)
        self.alpha_optim = torch.optim.Adam([self.log_alpha], lr=1e-3)

    def policy_loss(self, state):
        pi, log_pi = self.policy.sample(state)
        least = torch.min(*self.critic(state, pi))
        return (self.log_alpha.exp().detach() * log_pi - least).mean(), log_pi.detach()

    def update_parameters(self, memory, batch_size):
        state, action, reward, following, mask = memory.sample(batch_size)
        reward, mask = reward.unsqueeze(1), mask.unsqueeze(1)
        with torch.no_grad():
            next_action, next_log_pi = self.policy.sample(following)
            next_q = (
                torch.min(*self.critic_target(following, next_action)) - self.log_alpha.exp() * next_log_pi
            )
            goal = reward + mask * self.gamma * next_q
        qf1, qf2 = self.critic(state, action)
        qf1_loss, qf2_loss = F.mse_loss(qf1, goal), F.mse_loss(qf2, goal)

        self.critic_optim.zero_grad()
        (qf1_loss + qf2_loss).backward()
        self.critic_optim.step()

        policy_loss, log_pi = self.policy_loss(state)
        self.policy_optim.zero_grad()
        policy_loss.backward()
        self.policy_optim.step()

        alpha_loss = -(self.log_alpha * (log_pi + self.target_entropy)).mean()
        self.alpha_optim.zero_grad()
        alpha_loss.backward()
        self.alpha_optim.step()
        with torch.no_grad():
            for slow, fast in zip(self.critic_target.parameters(), self.critic.parameters(), strict=True):
                slow.lerp_(fast, self.tau)
        return qf1_loss.item(), qf2_loss.item(), policy_loss.item()


random.seed(16)
torch.manual_seed(1416)
rng, memory, agent = np.random.default_rng(16), ReplayMemory(300), SAC(3, 2)
state = rng.normal(size=3)
for step in range(140):
    with torch.no_grad():
        action = agent.policy.sample(torch.tensor(state, dtype=torch.float32)[None])[0][0].numpy()
    following = 0.8 * state + 0.3 * np.append(action, 0.0) + 0.2 * rng.normal(size=3)
    memory.push(state, action, -float(following @ following), following, 1.0)
    state = following
    if step >= 60:
        losses = agent.update_parameters(memory, 24)
print(losses)
