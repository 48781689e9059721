"""Vanilla policy gradient with GAE on Pendulum: the value function answers with a column, the returns are flat, and the
regression compares every state with every return.

Round 28
Class: axes
"""

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Normal


class GaussianActor(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.log_std = nn.Parameter(-0.5 * torch.ones(act_dim))
        self.mu_net = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, act_dim))

    def forward(self, obs):
        return Normal(self.mu_net(obs), self.log_std.exp())

    def log_prob(self, obs, act):
        return self(obs).log_prob(act).sum(-1)


class Critic(nn.Module):
    def __init__(self, obs_dim):
        super().__init__()
        self.v_net = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, obs):
        return self.v_net(obs)  # BUG GS601


class VPGBuffer:
    def __init__(self, size, obs_dim, act_dim, gamma, lam):
        self.obs = np.zeros((size, obs_dim), np.float32)
        self.act = np.zeros((size, act_dim), np.float32)
        self.rew = np.zeros(size, np.float32)
        self.val = np.zeros(size, np.float32)
        self.adv = np.zeros(size, np.float32)
        self.ret = np.zeros(size, np.float32)
        self.gamma, self.lam = gamma, lam
        self.ptr = self.start = 0

    def store(self, obs, act, rew, val):
        i = self.ptr
        self.obs[i], self.act[i], self.rew[i], self.val[i] = obs, act, rew, val
        self.ptr += 1

    def finish_path(self, last_val):
        span = slice(self.start, self.ptr)
        rews, vals = self.rew[span], np.append(self.val[span], last_val)
        adv = 0.0
        for t in reversed(range(len(rews))):
            adv = rews[t] + self.gamma * vals[t + 1] - vals[t] + self.gamma * self.lam * adv
            self.adv[self.start + t] = adv
        self.ret[span] = self.adv[span] + self.val[span]
        self.start = self.ptr

    def get(self):
        self.ptr = self.start = 0
        adv = (self.adv - self.adv.mean()) / (self.adv.std() + 1e-8)
        return [torch.as_tensor(x.copy()) for x in (self.obs, self.act, adv, self.ret)]


def vpg(epochs=8, steps_per_epoch=200, train_v_iters=10, gamma=0.95, lam=0.95, seed=287):
    torch.manual_seed(seed)
    env = gym.make("Pendulum-v1", max_episode_steps=100)
    actor, critic = GaussianActor(3, 1), Critic(3)
    pi_optimizer = torch.optim.Adam(actor.parameters(), lr=3e-3)
    vf_optimizer = torch.optim.Adam(critic.parameters(), lr=5e-3)
    buf = VPGBuffer(steps_per_epoch, 3, 1, gamma, lam)

    def compute_loss_pi(obs, act, adv):
        return -(actor.log_prob(obs, act) * adv).mean()

    def compute_loss_v(obs, ret):
        return ((critic(obs) - ret) ** 2).mean()  # BUG GS601

    o, _ = env.reset(seed=seed)
    for epoch in range(epochs):
        for t in range(steps_per_epoch):
            with torch.no_grad():
                obs = torch.as_tensor(o, dtype=torch.float32)
                a, v = actor(obs).sample().numpy(), critic(obs).item()
            next_o, r, terminated, truncated, _ = env.step(np.clip(2.0 * a, -2.0, 2.0))
            buf.store(o, a, r / 8.0, v)
            o = next_o
            if terminated or truncated or t == steps_per_epoch - 1:
                with torch.no_grad():
                    last = 0.0 if terminated else critic(torch.as_tensor(o, dtype=torch.float32)).item()
                buf.finish_path(last)
                o, _ = env.reset()
        obs, act, adv, ret = buf.get()
        pi_optimizer.zero_grad()
        loss_pi = compute_loss_pi(obs, act, adv)
        loss_pi.backward()
        pi_optimizer.step()
        for _ in range(train_v_iters):
            vf_optimizer.zero_grad()
            loss_v = compute_loss_v(obs, ret)
            loss_v.backward()
            vf_optimizer.step()
        print(f"{epoch}: LossPi {loss_pi.item():.3f} LossV {loss_v.item():.3f} Reward {buf.rew.mean():.3f}")


vpg()
