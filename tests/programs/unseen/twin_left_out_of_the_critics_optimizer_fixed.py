"""Twin delayed deep deterministic policy gradients. Both critics enter the loss, the target and the soft update; the
critics' optimizer was made when there was only one, and the twin stays what it was at the beginning.
Repaired here.

Round 20
Class: the line
"""

import copy
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Actor(nn.Module):
    def __init__(self, state_dim, action_dim, max_action):
        super().__init__()
        self.l1 = nn.Linear(state_dim, 64)
        self.l2 = nn.Linear(64, action_dim)
        self.max_action = max_action

    def forward(self, state):
        return self.max_action * torch.tanh(self.l2(F.relu(self.l1(state))))


class QNetwork(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.l1 = nn.Linear(state_dim + action_dim, 64)
        self.l2 = nn.Linear(64, 1)

    def forward(self, state, action):
        return self.l2(F.relu(self.l1(torch.cat([state, action], 1))))


class TD3:
    def __init__(self, state_dim, action_dim, max_action, discount=0.95, tau=0.02, policy_freq=2):
        self.actor = Actor(state_dim, action_dim, max_action)
        self.q_net = QNetwork(state_dim, action_dim)
        self.twin_q_net = QNetwork(state_dim, action_dim)
        self.actor_target = copy.deepcopy(self.actor)
        self.q_target, self.twin_q_target = copy.deepcopy(self.q_net), copy.deepcopy(self.twin_q_net)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        critics = [*self.q_net.parameters(), *self.twin_q_net.parameters()]
        self.critic_optimizer = torch.optim.Adam(critics, lr=1e-3)
        self.max_action, self.discount, self.tau, self.policy_freq = max_action, discount, tau, policy_freq
        self.total_it = 0

    @torch.no_grad()
    def select_action(self, state, noise=0.2):
        action = self.actor(torch.from_numpy(state).unsqueeze(0)).squeeze(0)
        return (action + noise * torch.randn_like(action)).clamp(-self.max_action, self.max_action).numpy()

    def train(self, memory, batch_size=64):
        self.total_it += 1
        rows = random.sample(memory, batch_size)
        state, action, next_state, reward, not_done = (torch.from_numpy(np.stack(c)) for c in zip(*rows))
        with torch.no_grad():
            noise = (torch.randn_like(action) * 0.2).clamp(-0.4, 0.4)
            next_action = (self.actor_target(next_state) + noise).clamp(-self.max_action, self.max_action)
            target_q = torch.min(
                self.q_target(next_state, next_action), self.twin_q_target(next_state, next_action)
            )
            target_q = reward + not_done * self.discount * target_q
        current_q, current_twin_q = self.q_net(state, action), self.twin_q_net(state, action)
        critic_loss = F.mse_loss(current_q, target_q) + F.mse_loss(current_twin_q, target_q)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        if self.total_it % self.policy_freq == 0:
            actor_loss = -self.q_net(state, self.actor(state)).mean()
            self.actor_optimizer.zero_grad()
            actor_loss.backward()
            self.actor_optimizer.step()
            self.soft_update(self.q_net, self.q_target)
            self.soft_update(self.twin_q_net, self.twin_q_target)
            self.soft_update(self.actor, self.actor_target)
        return critic_loss.item()

    @torch.no_grad()
    def soft_update(self, net, target):
        for param, target_param in zip(net.parameters(), target.parameters()):
            target_param.mul_(1 - self.tau).add_(self.tau * param)


class Docking:
    """Bring a barge to rest at the pier with two thrusters."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.state = self.rng.uniform(-1, 1, 4).astype(np.float32)
        self.state[2:] = 0
        return self.state.copy()

    def step(self, action):
        self.state[2:] = 0.8 * self.state[2:] + 0.2 * action
        self.state[:2] += self.state[2:]
        distance = float(np.linalg.norm(self.state[:2]))
        docked = distance < 0.15
        return self.state.copy(), (5.0 if docked else -distance), docked


def main():
    seed = 2008
    random.seed(seed)
    torch.manual_seed(seed)
    env, agent, memory = Docking(seed), TD3(4, 2, 1.0), deque(maxlen=5000)
    state, steps, losses = env.reset(), 0, []
    for t in range(400):
        action = agent.select_action(state) if t > 100 else env.rng.uniform(-1, 1, 2).astype(np.float32)
        next_state, reward, done = env.step(action)
        steps += 1
        flags = np.float32([reward]), np.float32([1.0 - done])
        memory.append((state, action, next_state, *flags))
        state = next_state
        if done or steps == 40:
            state, steps = env.reset(), 0
        if t > 100:
            losses.append(agent.train(memory))
    print("critic loss", np.mean(losses[-20:]))


main()
