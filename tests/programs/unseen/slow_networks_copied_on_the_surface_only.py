"""TD3 whose target networks are made with copy.copy: a shallow copy of a module holds the same parameters, so the targets
move with every step of the networks they should follow slowly. seungeunrho/minimalRL#24.

Round 25
Class: weights
"""

import copy

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

gamma, tau, batch_size, policy_noise, noise_clip, policy_freq = 0.98, 0.01, 64, 0.2, 0.5, 2
torch.manual_seed(2511)
np.random.seed(2511)


class ReplayBuffer:
    def __init__(self, state_dim, action_dim, max_size=5000):
        self.ptr, self.size, self.max_size = 0, 0, max_size
        self.state = np.zeros((max_size, state_dim), dtype=np.float32)
        self.action = np.zeros((max_size, action_dim), dtype=np.float32)
        self.next_state = np.zeros((max_size, state_dim), dtype=np.float32)
        self.reward = np.zeros((max_size, 1), dtype=np.float32)
        self.not_done = np.zeros((max_size, 1), dtype=np.float32)

    def put(self, s, a, r, s2, done):
        i = self.ptr
        self.state[i], self.action[i], self.reward[i], self.next_state[i] = s, a, r, s2
        self.not_done[i] = 1.0 - done
        self.ptr = (i + 1) % self.max_size
        self.size = min(self.size + 1, self.max_size)

    def sample(self, n):
        i = np.random.randint(0, self.size, size=n)
        arrays = (self.state, self.action, self.reward, self.next_state, self.not_done)
        return [torch.from_numpy(x[i]) for x in arrays]


class MuNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc_mu = nn.Linear(3, 64), nn.Linear(64, 32), nn.Linear(32, 1)

    def forward(self, x):
        return torch.tanh(self.fc_mu(F.relu(self.fc2(F.relu(self.fc1(x))))))


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.q1 = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))
        self.q2 = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x, a):
        xa = torch.cat([x, a], dim=1)
        return self.q1(xa), self.q2(xa)


def train(mu, mu_target, q, q_target, memory, q_optimizer, mu_optimizer, it):
    s, a, r, s2, not_done = memory.sample(batch_size)
    with torch.no_grad():
        noise = (torch.randn_like(a) * policy_noise).clamp(-noise_clip, noise_clip)
        a2 = (mu_target(s2) + noise).clamp(-1, 1)
        t1, t2 = q_target(s2, a2)
        target = r + gamma * not_done * torch.min(t1, t2)
    q1, q2 = q(s, a)
    q_loss = F.smooth_l1_loss(q1, target) + F.smooth_l1_loss(q2, target)
    q_optimizer.zero_grad()
    q_loss.backward()
    q_optimizer.step()

    if it % policy_freq == 0:
        mu_loss = -q(s, mu(s))[0].mean()
        mu_optimizer.zero_grad()
        mu_loss.backward()
        mu_optimizer.step()
        soft_update(mu, mu_target)
        soft_update(q, q_target)


def soft_update(net, net_target):
    for param_target, param in zip(net_target.parameters(), net.parameters()):
        param_target.data.copy_(param_target.data * (1.0 - tau) + param.data * tau)


def main():
    env = gym.make("Pendulum-v1")
    memory = ReplayBuffer(3, 1)
    q, mu = QNet(), MuNet()
    q_target, mu_target = copy.copy(q), copy.copy(mu)  # BUG GS306
    mu_optimizer = torch.optim.Adam(mu.parameters(), lr=1e-3)
    q_optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
    s, _ = env.reset(seed=2511)
    for step in range(260):
        with torch.no_grad():
            a = mu(torch.from_numpy(s)).numpy()
        a = np.clip(a + 0.3 * np.random.randn(1), -1, 1)
        s2, r, terminated, truncated, _ = env.step(2 * a)
        memory.put(s, a, r / 10.0, s2, terminated)
        s = env.reset()[0] if terminated or truncated else s2
        if step >= 180:
            train(mu, mu_target, q, q_target, memory, q_optimizer, mu_optimizer, step)


if __name__ == "__main__":
    main()
