"""Soft actor-critic on Pendulum: the torque for the actor's loss is drawn with rsample().

Round 28
Class: the line
"""

import copy
import itertools

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

LOG_STD_MIN, LOG_STD_MAX = -5, 2


class SquashedGaussianActor(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden, act_limit):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs_dim, hidden), nn.ReLU())
        self.mu_layer = nn.Linear(hidden, act_dim)
        self.log_std_layer = nn.Linear(hidden, act_dim)
        self.act_limit = act_limit

    def forward(self, obs, deterministic=False):
        h = self.net(obs)
        mu = self.mu_layer(h)
        std = self.log_std_layer(h).clamp(LOG_STD_MIN, LOG_STD_MAX).exp()
        dist = Normal(mu, std)
        u = mu if deterministic else dist.rsample()
        logp = dist.log_prob(u).sum(-1)
        logp = logp - (2 * (np.log(2) - u - F.softplus(-2 * u))).sum(-1)
        return self.act_limit * torch.tanh(u), logp


class QFunction(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden):
        super().__init__()
        self.q = nn.Sequential(nn.Linear(obs_dim + act_dim, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, obs, act):
        return self.q(torch.cat([obs, act], -1)).squeeze(-1)


class ReplayBuffer:
    def __init__(self, size):
        self.obs, self.obs2 = np.zeros((size, 3), np.float32), np.zeros((size, 3), np.float32)
        self.act = np.zeros((size, 1), np.float32)
        self.rew, self.term = np.zeros(size, np.float32), np.zeros(size, np.float32)
        self.ptr = self.size = 0

    def store(self, *row):
        for column, x in zip((self.obs, self.act, self.rew, self.obs2, self.term), row):
            column[self.ptr] = x
        self.ptr = self.size = self.ptr + 1

    def sample(self, n):
        i = np.random.randint(0, self.size, n)
        return [torch.as_tensor(x[i]) for x in (self.obs, self.act, self.rew, self.obs2, self.term)]


def sac(steps=320, start=100, batch=48, gamma=0.97, polyak=0.98, alpha=0.05, lr=1e-3, seed=290):
    torch.manual_seed(seed)
    np.random.seed(seed)
    env = gym.make("Pendulum-v1")
    env.action_space.seed(seed)
    pi, q1, q2 = SquashedGaussianActor(3, 1, 64, 2.0), QFunction(3, 1, 64), QFunction(3, 1, 64)
    q1_targ, q2_targ = copy.deepcopy(q1), copy.deepcopy(q2)
    q_params = list(itertools.chain(q1.parameters(), q2.parameters()))
    targ_params = list(itertools.chain(q1_targ.parameters(), q2_targ.parameters()))
    for p in targ_params:
        p.requires_grad = False
    pi_optimizer, q_optimizer = torch.optim.Adam(pi.parameters(), lr=lr), torch.optim.Adam(q_params, lr=lr)
    buffer = ReplayBuffer(steps)

    o, _ = env.reset(seed=seed)
    total = 0.0
    for t in range(steps):
        if t < start:
            a = env.action_space.sample()
        else:
            with torch.no_grad():
                a = pi(torch.as_tensor(o))[0].numpy()
        o2, r, terminated, truncated, _ = env.step(a)
        total += float(r)
        buffer.store(o, a, r / 8.0, o2, terminated)
        o = env.reset()[0] if terminated or truncated else o2
        if t < start or t % 2:
            continue

        obs, act, rew, obs2, term = buffer.sample(batch)
        with torch.no_grad():
            act2, logp2 = pi(obs2)
            q_targ = torch.min(q1_targ(obs2, act2), q2_targ(obs2, act2))
            backup = rew + gamma * (1 - term) * (q_targ - alpha * logp2)
        loss_q = F.mse_loss(q1(obs, act), backup) + F.mse_loss(q2(obs, act), backup)
        q_optimizer.zero_grad()
        loss_q.backward()
        q_optimizer.step()

        for p in q_params:
            p.requires_grad = False
        new_act, logp = pi(obs)
        loss_pi = (alpha * logp - torch.min(q1(obs, new_act), q2(obs, new_act))).mean()
        pi_optimizer.zero_grad()
        loss_pi.backward()
        pi_optimizer.step()
        for p in q_params:
            p.requires_grad = True

        with torch.no_grad():
            for p, p_targ in zip(q_params, targ_params):
                p_targ.mul_(polyak).add_((1 - polyak) * p)
    print(f"LossQ {loss_q.item():.3f} LossPi {loss_pi.item():.3f} mean reward {total / steps:.3f}")


sac()
