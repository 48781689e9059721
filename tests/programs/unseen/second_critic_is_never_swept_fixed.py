"""TD3 swings up the pendulum with two critics and two optimizers, each cleared before its critic's
backward.

Round 32
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
        a = torch.tanh(self.l1(state))
        a = torch.tanh(self.l2(a))
        return self.max_action * torch.tanh(self.l3(a))


class Critic(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.l1 = nn.Linear(state_dim + action_dim, 64)
        self.l2 = nn.Linear(64, 64)
        self.l3 = nn.Linear(64, 1)

    def forward(self, state, action):
        q = torch.tanh(self.l1(torch.cat([state, action], 1)))
        q = torch.tanh(self.l2(q))
        return self.l3(q)


class TD3:
    def __init__(self, state_dim, action_dim, max_action, discount=0.98, tau=0.01):
        self.actor = Actor(state_dim, action_dim, max_action)
        self.actor_target = copy.deepcopy(self.actor)
        self.critic_1 = Critic(state_dim, action_dim)
        self.critic_1_target = copy.deepcopy(self.critic_1)
        self.critic_2 = Critic(state_dim, action_dim)
        self.critic_2_target = copy.deepcopy(self.critic_2)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_1_optimizer = torch.optim.Adam(self.critic_1.parameters(), lr=1e-3)
        self.critic_2_optimizer = torch.optim.Adam(self.critic_2.parameters(), lr=1e-3)
        self.max_action, self.discount, self.tau = max_action, discount, tau

    def select_action(self, state):
        with torch.no_grad():
            return self.actor(torch.from_numpy(state).unsqueeze(0)).squeeze(0).numpy()

    def train(self, it, batch, policy_noise=0.2, noise_clip=0.5, policy_freq=2):
        state, action, next_state, reward = batch
        with torch.no_grad():
            noise = (torch.randn_like(action) * policy_noise).clamp(-noise_clip, noise_clip)
            next_action = (self.actor_target(next_state) + noise).clamp(-self.max_action, self.max_action)
            target_q1 = self.critic_1_target(next_state, next_action)
            target_q2 = self.critic_2_target(next_state, next_action)
            # the pendulum is only ever cut off by the clock
            target_q = reward + self.discount * torch.min(target_q1, target_q2)

        loss_q1 = F.mse_loss(self.critic_1(state, action), target_q)
        self.critic_1_optimizer.zero_grad()
        loss_q1.backward()
        self.critic_1_optimizer.step()

        loss_q2 = F.mse_loss(self.critic_2(state, action), target_q)
        self.critic_2_optimizer.zero_grad()
        loss_q2.backward()
        self.critic_2_optimizer.step()

        if it % policy_freq == 0:
            actor_loss = -self.critic_1(state, self.actor(state)).mean()
            self.actor_optimizer.zero_grad()
            actor_loss.backward()
            self.actor_optimizer.step()
            self.soft_update(self.actor, self.actor_target)
            self.soft_update(self.critic_1, self.critic_1_target)
            self.soft_update(self.critic_2, self.critic_2_target)

    def soft_update(self, net, target):
        for param, target_param in zip(net.parameters(), target.parameters()):
            target_param.data.copy_(self.tau * param.data + (1 - self.tau) * target_param.data)


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env = gym.make("Pendulum-v1")
    agent = TD3(3, 1, 2.0)
    buffer = []
    state, _ = env.reset(seed=0)
    for t in range(600):
        action = agent.select_action(state) + rng.normal(0, 0.4, 1).astype(np.float32)
        action = np.clip(action, -2.0, 2.0)
        next_state, reward, _terminated, truncated, _ = env.step(action)
        buffer.append((state, action, next_state, np.float32([0.1 * reward])))
        state = env.reset()[0] if truncated else next_state
        if t >= 200 and t % 3 == 0:
            rows = [buffer[i] for i in rng.integers(len(buffer), size=64)]
            agent.train(t // 3, [torch.from_numpy(np.stack(column)) for column in zip(*rows)])
    env.close()
    print(f"mean reward of the last hundred steps {10 * np.mean([row[3] for row in buffer[-100:]]):.2f}")


if __name__ == "__main__":
    main()
