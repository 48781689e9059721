"""TD3 with two critics in one module: the target takes the smaller of both, the loss fits the first one only, and the
second stays what it was at the start.
Repaired here.

Round 24
Class: zero in part
"""

import copy

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2414)
rng = np.random.default_rng(14)


class Actor(nn.Module):
    def __init__(self, state_dim, action_dim, max_action):
        super().__init__()
        self.l1 = nn.Linear(state_dim, 64)
        self.l2 = nn.Linear(64, action_dim)
        self.max_action = max_action

    def forward(self, state):
        return self.max_action * torch.tanh(self.l2(F.relu(self.l1(state))))


class Critic(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.q_net = nn.Sequential(nn.Linear(state_dim + action_dim, 64), nn.ReLU(), nn.Linear(64, 1))
        self.twin_q_net = nn.Sequential(nn.Linear(state_dim + action_dim, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, state, action):
        sa = torch.cat([state, action], dim=1)
        return self.q_net(sa), self.twin_q_net(sa)


class TD3:
    def __init__(self, state_dim, action_dim, max_action, discount=0.97, tau=0.01, policy_freq=2):
        self.actor = Actor(state_dim, action_dim, max_action)
        self.actor_target = copy.deepcopy(self.actor)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic = Critic(state_dim, action_dim)
        self.critic_target = copy.deepcopy(self.critic)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.max_action, self.discount, self.tau, self.policy_freq = max_action, discount, tau, policy_freq
        self.total_it = 0

    def select_action(self, state):
        with torch.no_grad():
            action = self.actor(torch.as_tensor(state).reshape(1, -1)).numpy().flatten()
        noise = rng.normal(scale=0.2 * self.max_action, size=action.shape)
        return np.clip(action + noise, -self.max_action, self.max_action).astype(np.float32)

    def train(self, state, action, next_state, reward, not_done):
        self.total_it += 1
        with torch.no_grad():
            noise = (torch.randn_like(action) * 0.4).clamp(-1.0, 1.0)
            next_action = (self.actor_target(next_state) + noise).clamp(-self.max_action, self.max_action)
            target_q, twin_target_q = self.critic_target(next_state, next_action)
            target = reward + not_done * self.discount * torch.min(target_q, twin_target_q)

        q_values = self.critic(state, action)
        critic_loss = F.smooth_l1_loss(q_values[0], target) + F.smooth_l1_loss(q_values[1], target)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        if self.total_it % self.policy_freq == 0:
            actor_loss = -self.critic.q_net(torch.cat([state, self.actor(state)], dim=1)).mean()
            self.actor_optimizer.zero_grad()
            actor_loss.backward()
            self.actor_optimizer.step()
            for net, target_net in ((self.critic, self.critic_target), (self.actor, self.actor_target)):
                for param, target_param in zip(net.parameters(), target_net.parameters()):
                    target_param.data.copy_(self.tau * param.data + (1 - self.tau) * target_param.data)
        return critic_loss.item()


env = gym.make("Pendulum-v1", max_episode_steps=60)
agent = TD3(env.observation_space.shape[0], env.action_space.shape[0], float(env.action_space.high[0]))
replay, losses = [], []
for episode in range(6):
    state, _ = env.reset(seed=episode)
    over = False
    while not over:
        action = agent.select_action(state)
        next_state, reward, terminated, truncated, _ = env.step(action)
        replay.append((state, action, next_state, [reward / 10], [1.0 - terminated]))
        state, over = next_state, terminated or truncated
        if len(replay) > 120:
            rows = [replay[i] for i in rng.integers(len(replay), size=40)]
            batch = [torch.tensor(np.array(column), dtype=torch.float32) for column in zip(*rows)]
            losses.append(agent.train(*batch))
print(f"{len(losses)} updates, loss of the critic {np.mean(losses[-20:]):.4f}")
