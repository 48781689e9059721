"""A clipped policy whose spread is the bare output of a layer. It starts positive and learns to be small where noise
costs most; for the fastest states it passes zero, and a logarithm of a negative number is in the ratio.

Round 18
Class: magnitude
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(1820)


class ActorNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 48)
        self.mu_head = nn.Linear(48, 1)
        self.sigma_head = nn.Linear(48, 1)
        nn.init.normal_(self.sigma_head.weight, std=0.01)
        nn.init.constant_(self.sigma_head.bias, 0.5)

    def forward(self, s):
        x = F.relu(self.fc(s))
        mu = 2 * torch.tanh(self.mu_head(x))
        sigma = self.sigma_head(x)  # BUG GS503
        return mu, sigma


def log_density(mu, sigma, a):
    """Of a normal distribution, one action per row."""
    z = (a - mu) / sigma
    return (-0.5 * z.pow(2) - sigma.log() - 0.5 * math.log(2 * math.pi)).squeeze(-1)  # BUG GS503


class Skaters:
    """Sixty skaters keep to their line; each turn is judged at once, and harder the faster they are."""

    def __init__(self, count=60):
        self.line, self.speed = torch.randn(count), torch.rand(count) * 3

    def state(self):
        return torch.stack([self.line, self.speed], -1)

    def step(self, a):
        turn = a.squeeze(-1).clamp(-2, 2)
        miss = (self.line + turn).pow(2) * (0.1 + self.speed.pow(2))
        self.line = 0.5 * (self.line + turn) + 0.5 * torch.randn_like(self.line)
        self.speed = (self.speed + 0.3 * torch.randn_like(self.speed)).clamp(0, 3)
        return self.state(), -miss.clamp(max=20.0)


class PPO:
    clip_param, max_grad_norm, ppo_epoch, batch_size = 0.2, 0.5, 6, 60

    def __init__(self):
        self.actor_net = ActorNet()
        self.critic_net = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 1), nn.Flatten(0))
        self.actor_optimizer = optim.Adam(self.actor_net.parameters(), lr=4e-3)
        self.critic_net_optimizer = optim.Adam(self.critic_net.parameters(), lr=1e-2)
        self.buffer = []

    @torch.no_grad()
    def select_action(self, state):
        mu, sigma = self.actor_net(state)
        action = mu + sigma * torch.randn_like(mu)
        return action, log_density(mu, sigma, action)

    def store_transition(self, *transition):
        self.buffer.append(transition)
        return len(self.buffer) == 6

    def update(self):
        state, action, old_log_prob, reward = (torch.cat(column) for column in zip(*self.buffer))
        self.buffer.clear()
        for _ in range(self.ppo_epoch):
            for index in torch.randperm(len(state)).split(self.batch_size):
                value = self.critic_net(state[index])
                advantage = (reward[index] - value).detach()
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
                mu, sigma = self.actor_net(state[index])
                ratio = torch.exp(log_density(mu, sigma, action[index]) - old_log_prob[index])
                clipped = ratio.clamp(1 - self.clip_param, 1 + self.clip_param)
                action_loss = -torch.min(ratio * advantage, clipped * advantage).mean()
                self.actor_optimizer.zero_grad()
                action_loss.backward()
                nn.utils.clip_grad_norm_(self.actor_net.parameters(), self.max_grad_norm)
                self.actor_optimizer.step()

                value_loss = F.smooth_l1_loss(value, reward[index])
                self.critic_net_optimizer.zero_grad()
                value_loss.backward()
                nn.utils.clip_grad_norm_(self.critic_net.parameters(), self.max_grad_norm)
                self.critic_net_optimizer.step()


env, agent = Skaters(), PPO()
state = env.state()
for i_step in range(72):
    action, log_prob = agent.select_action(state)
    next_state, reward = env.step(action)
    if agent.store_transition(state, action, log_prob, reward):
        agent.update()
    state = next_state
print("spread", agent.actor_net(state)[1].mean().item())
