"""TD3 on Pendulum: the actor's loss is computed behind the critics' update and goes backward at once.

Round 28
Class: the line
"""

import copy

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Actor(nn.Module):
    def __init__(self, state_dim, action_dim, max_action):
        super().__init__()
        self.l1 = nn.Linear(state_dim, 64)
        self.l2 = nn.Linear(64, 64)
        self.l3 = nn.Linear(64, action_dim)
        self.max_action = max_action

    def forward(self, state):
        a = F.relu(self.l1(state))
        a = F.relu(self.l2(a))
        return self.max_action * torch.tanh(self.l3(a))


class Critic(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.l1 = nn.Linear(state_dim + action_dim, 64)
        self.l2 = nn.Linear(64, 64)
        self.l3 = nn.Linear(64, 1)
        self.l4 = nn.Linear(state_dim + action_dim, 64)
        self.l5 = nn.Linear(64, 64)
        self.l6 = nn.Linear(64, 1)

    def Q1(self, sa):
        return self.l3(F.relu(self.l2(F.relu(self.l1(sa)))))

    def Q2(self, sa):
        return self.l6(F.relu(self.l5(F.relu(self.l4(sa)))))

    def forward(self, state, action):
        sa = torch.cat([state, action], 1)
        return self.Q1(sa), self.Q2(sa)


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

    @torch.no_grad()
    def select_action(self, state):
        return self.actor(torch.as_tensor(state).reshape(1, -1))[0].numpy()

    def train(self, batch):
        self.total_it += 1
        state, action, next_state, reward, not_done = batch
        with torch.no_grad():
            noise = (torch.randn_like(action) * 0.2).clamp(-0.5, 0.5)
            next_action = (self.actor_target(next_state) + noise).clamp(-self.max_action, self.max_action)
            target_Q1, target_Q2 = self.critic_target(next_state, next_action)
            target_Q = reward + not_done * self.discount * torch.min(target_Q1, target_Q2)

        current_Q1, current_Q2 = self.critic(state, action)
        critic_loss = F.mse_loss(current_Q1, target_Q) + F.mse_loss(current_Q2, target_Q)

        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        if self.total_it % self.policy_freq == 0:
            actor_loss = -self.critic.Q1(torch.cat([state, self.actor(state)], 1)).mean()
            self.actor_optimizer.zero_grad()
            actor_loss.backward()
            self.actor_optimizer.step()
            pairs = ((self.critic, self.critic_target), (self.actor, self.actor_target))
            for net, slow in pairs:
                for param, target_param in zip(net.parameters(), slow.parameters()):
                    target_param.data.copy_(self.tau * param.data + (1 - self.tau) * target_param.data)
        return critic_loss.item()


class ReplayBuffer:
    def __init__(self):
        self.rows = []

    def sample(self, size):
        chosen = np.random.randint(0, len(self.rows), size)
        columns = zip(*(self.rows[i] for i in chosen))
        return [torch.as_tensor(np.array(c, dtype=np.float32).reshape(size, -1)) for c in columns]


np.random.seed(292)
torch.manual_seed(292)
env = gym.make("Pendulum-v1")
env.action_space.seed(292)
policy, replay_buffer = TD3(3, 1, 2.0), ReplayBuffer()
state, _ = env.reset(seed=292)
rewards = []
for t in range(300):
    if t < 100:
        action = env.action_space.sample()
    else:
        noisy = policy.select_action(state) + np.random.normal(0, 0.2, 1)
        action = noisy.clip(-2.0, 2.0).astype(np.float32)
    next_state, reward, terminated, truncated, _ = env.step(action)
    replay_buffer.rows.append((state, action, next_state, reward / 8.0, 1.0 - terminated))
    rewards.append(float(reward))
    state = env.reset()[0] if terminated or truncated else next_state
    if t >= 100 and t % 2 == 0:
        loss = policy.train(replay_buffer.sample(64))
print(f"critic loss {loss:.4f}, mean reward of the last hundred steps {np.mean(rewards[-100:]):.2f}")
