"""Advantage actor-critic for Pendulum with a Gaussian policy: collect a stretch of the task, work out n-step
returns, learn from it in minibatches.

Round 31
Class: axes
"""

from collections import namedtuple

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal
from torch.nn.utils import clip_grad_norm_

Batch = namedtuple("Batch", "obs act returns")


class Actor(nn.Module):
    def __init__(self, obs_dim, act_dim, max_action):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(obs_dim, 64), nn.Tanh(), nn.Linear(64, act_dim))
        self.sigma = nn.Parameter(torch.zeros(1, act_dim))
        self.max_action = max_action

    def forward(self, obs):
        mu = self.max_action * torch.tanh(self.model(obs))
        return mu, self.sigma.exp().expand_as(mu)


class Critic(nn.Module):
    def __init__(self, obs_dim):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(obs_dim, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, obs):
        return self.model(obs).flatten()


class A2CPolicy:
    def __init__(self, actor, critic, optim, dist_fn=Normal, gamma=0.95, vf_coef=0.5, ent_coef=0.01):
        self.actor, self.critic, self.optim, self.dist_fn = actor, critic, optim, dist_fn
        self.gamma, self.vf_coef, self.ent_coef = gamma, vf_coef, ent_coef

    @torch.no_grad()
    def act(self, obs):
        dist = self.dist_fn(*self.actor(torch.from_numpy(obs).unsqueeze(0)))
        return dist.sample().squeeze(0).numpy()

    @torch.no_grad()
    def process(self, data):
        obs = torch.from_numpy(np.stack(data["obs"]))
        act = torch.from_numpy(np.stack(data["act"]))
        v_next = self.critic(torch.from_numpy(np.stack(data["obs_next"])))
        returns = torch.zeros(len(obs))
        following = v_next[-1]
        for t in reversed(range(len(obs))):
            if data["truncated"][t]:
                following = v_next[t]
            following = data["rew"][t] + self.gamma * following
            returns[t] = following
        return Batch(obs, act, returns)

    def learn(self, batch, batch_size=32, repeat=2):
        for _ in range(repeat):
            for index in torch.randperm(len(batch.obs)).split(batch_size):
                b = Batch(*(part[index] for part in batch))
                dist = self.dist_fn(*self.actor(b.obs))
                v = self.critic(b.obs)
                adv = (b.returns - v).detach()
                log_prob = dist.log_prob(b.act).sum(-1)
                a_loss = -(log_prob * adv).mean()
                vf_loss = (b.returns - v).pow(2).mean()
                ent_loss = dist.entropy().sum(-1).mean()
                loss = a_loss + self.vf_coef * vf_loss - self.ent_coef * ent_loss
                self.optim.zero_grad()
                loss.backward()
                clip_grad_norm_([*self.actor.parameters(), *self.critic.parameters()], 0.5)
                self.optim.step()


def main():
    torch.manual_seed(3103)
    env = gym.make("Pendulum-v1", max_episode_steps=100)
    limit = float(env.action_space.high[0])
    actor, critic = Actor(3, 1, limit), Critic(3)
    optim = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)
    policy = A2CPolicy(actor, critic, optim)

    obs, _ = env.reset(seed=3103)
    for epoch in range(16):
        data = {key: [] for key in ("obs", "act", "rew", "truncated", "obs_next")}
        for _ in range(128):
            act = policy.act(obs)
            obs_next, rew, _, truncated, _ = env.step(np.clip(act, -limit, limit))
            for key, value in zip(data, (obs, act, float(rew) / 8, truncated, obs_next)):
                data[key].append(value)
            obs = env.reset()[0] if truncated else obs_next
        policy.learn(policy.process(data))
        print(f"epoch {epoch}: reward per step {8 * np.mean(data['rew']):.2f}")
    env.close()


if __name__ == "__main__":
    main()
