"""Recurrent deterministic policy gradients for a pendulum whose speed is hidden: the actor's optimizer is handed the
layers above the memory and not the memory itself.

Round 30
Class: weights
"""

import copy

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class RecurrentActor(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.memory = nn.GRU(2, hidden, batch_first=True)  # BUG GS205
        self.mlp = nn.Sequential(nn.Linear(hidden, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())

    def forward(self, angles, state=None):
        features, state = self.memory(angles, state)
        return 2.0 * self.mlp(features), state


class RecurrentCritic(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.memory = nn.GRU(3, hidden, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(hidden, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, angles, torques):
        features, _ = self.memory(torch.cat([angles, torques], dim=-1))
        return self.mlp(features).squeeze(-1)


class RDPG:
    def __init__(self, gamma=0.97, tau=0.02):
        self.gamma, self.tau = gamma, tau
        self.actor, self.critic = RecurrentActor(), RecurrentCritic()
        self.actor_target, self.critic_target = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_optim = torch.optim.Adam(self.actor.mlp.parameters(), lr=1e-3)  # BUG GS205
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    @torch.no_grad()
    def act(self, angle, state):
        torque, state = self.actor(torch.as_tensor(angle).view(1, 1, 2), state)
        torque = (torque + 0.4 * torch.randn_like(torque)).clamp(-2, 2)
        return torque.view(1).numpy(), state

    def update(self, angles, torques, rewards):
        with torch.no_grad():
            later, _ = self.actor_target(angles)
            q_later = self.critic_target(angles, later)[:, 1:]
            y = rewards + self.gamma * q_later
        critic_loss = F.mse_loss(self.critic(angles[:, :-1], torques), y)
        self.critic_optim.zero_grad()
        critic_loss.backward()
        self.critic_optim.step()

        wanted, _ = self.actor(angles[:, :-1])
        actor_loss = -self.critic(angles[:, :-1], wanted).mean()
        self.actor_optim.zero_grad()
        actor_loss.backward()
        self.actor_optim.step()

        with torch.no_grad():
            for net, target in ((self.actor, self.actor_target), (self.critic, self.critic_target)):
                for p, t in zip(net.parameters(), target.parameters()):
                    t.add_(p - t, alpha=self.tau)


def main():
    rng = np.random.default_rng(3003)
    torch.manual_seed(3003)
    env = gym.make("Pendulum-v1", max_episode_steps=60)
    agent, episodes = RDPG(), []
    obs, _ = env.reset(seed=3003)
    for episode in range(14):
        angles, torques, rewards, state, truncated = [obs[:2]], [], [], None, False
        while not truncated:
            torque, state = agent.act(obs[:2], state)
            obs, reward, _, truncated, _ = env.step(torque)
            angles.append(obs[:2])
            torques.append(torque)
            rewards.append(np.float32(reward / 10))
        episodes.append((np.stack(angles), np.stack(torques), np.stack(rewards)))
        obs, _ = env.reset()
        for _ in range(4 if episode >= 3 else 0):
            windows = []
            for _ in range(16):
                a, u, r = episodes[rng.integers(len(episodes))]
                start = rng.integers(len(r) - 15)
                windows.append((a[start : start + 16], u[start : start + 15], r[start : start + 15]))
            agent.update(*(torch.from_numpy(np.stack(part)) for part in zip(*windows)))
    env.close()


if __name__ == "__main__":
    main()
