"""The repaired twin of a program in which the following goes wrong.
An A2C policy of a modular library on a pendulum: the log-probability of a one-dimensional action keeps its
column, the surplus of the returns has none, and their product pairs each state of the batch with all the
others. After thu-ml/tianshou#162.

Round 37
Class: axes
"""

import random
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal


class ActorProb(nn.Module):
    def __init__(self, state_dim, action_dim, max_action):
        super().__init__()
        self.preprocess = nn.Sequential(nn.Linear(state_dim, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.mu, self.sigma = nn.Linear(64, action_dim), nn.Parameter(torch.zeros(1, action_dim))
        self.max_action = max_action

    def forward(self, obs):
        mu = self.max_action * torch.tanh(self.mu(self.preprocess(obs)))
        return mu, self.sigma.clamp(-3, 1).exp().expand_as(mu)


class Critic(nn.Module):
    def __init__(self, state_dim):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(state_dim, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, obs):
        return self.model(obs)


class A2CPolicy(nn.Module):
    def __init__(
        self, actor, critic, optim, dist_fn, gamma=0.95, vf_coef=0.5, ent_coef=0.01, max_grad_norm=0.5
    ):
        super().__init__()
        self.actor, self.critic, self.optim, self.dist_fn = actor, critic, optim, dist_fn
        self._gamma, self._w_vf, self._w_ent, self._grad_norm = gamma, vf_coef, ent_coef, max_grad_norm

    def forward(self, batch):
        logits = self.actor(batch.obs)
        return SimpleNamespace(logits=logits, dist=self.dist_fn(*logits))

    @torch.no_grad()
    def process_fn(self, batch):
        """n-step returns; the last value counts unless the episode was terminated."""
        following = self.critic(batch.obs_next).flatten() * (1 - batch.terminated)
        returns, running = torch.zeros(len(batch.rew)), 0.0
        for i in reversed(range(len(batch.rew))):
            ends = batch.ended[i] or i == len(batch.rew) - 1
            running = batch.rew[i] + self._gamma * (following[i] if ends else running)
            returns[i] = running
        batch.returns = returns
        return batch

    def learn(self, batch, batch_size, repeat):
        losses = []
        for _ in range(repeat):
            for rows in torch.randperm(len(batch.returns)).split(batch_size):
                b = SimpleNamespace(obs=batch.obs[rows], act=batch.act[rows], returns=batch.returns[rows])
                dist = self(b).dist
                v = self.critic(b.obs).flatten()
                a, r = b.act, b.returns
                a_loss = -(dist.log_prob(a).sum(-1) * (r - v).detach()).mean()
                vf_loss = F.mse_loss(r, v)
                ent_loss = dist.entropy().mean()
                loss = a_loss + self._w_vf * vf_loss - self._w_ent * ent_loss
                self.optim.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(
                    [*self.actor.parameters(), *self.critic.parameters()], self._grad_norm
                )
                self.optim.step()
                losses.append(loss.item())
        return np.mean(losses)


class Collector:
    def __init__(self, policy, env, seed):
        self.policy, self.env = policy, env
        self.obs, _ = env.reset(seed=seed)

    @torch.no_grad()
    def collect(self, n_step):
        rows = []
        for _ in range(n_step):
            obs = torch.as_tensor(self.obs, dtype=torch.float32)
            act = self.policy(SimpleNamespace(obs=obs.unsqueeze(0))).dist.sample()[0]
            nxt, rew, terminated, truncated, _ = self.env.step(act.clamp(-2, 2).numpy())
            ended = terminated or truncated
            rows.append(
                (obs, act, 0.1 * float(rew), torch.as_tensor(nxt, dtype=torch.float32), terminated, ended)
            )
            self.obs = self.env.reset()[0] if ended else nxt
        obs, act, rew, obs_next, terminated, ended = zip(*rows)
        return SimpleNamespace(
            obs=torch.stack(obs),
            act=torch.stack(act),
            rew=torch.tensor(rew, dtype=torch.float32),
            obs_next=torch.stack(obs_next),
            terminated=torch.tensor(terminated).float(),
            ended=ended,
        )


def test_a2c(args):
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    env = gym.make("Pendulum-v1", max_episode_steps=100)
    actor, critic = ActorProb(3, 1, max_action=2.0), Critic(3)
    optim = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=args.lr)
    policy = A2CPolicy(actor, critic, optim, Normal)
    collector = Collector(policy, env, args.seed)
    for _ in range(args.epochs):
        batch = policy.process_fn(collector.collect(args.n_step))
        loss = policy.learn(batch, args.batch_size, repeat=1)
    print("loss", round(float(loss), 4))


test_a2c(SimpleNamespace(seed=3731, lr=2e-3, epochs=15, n_step=160, batch_size=32))
