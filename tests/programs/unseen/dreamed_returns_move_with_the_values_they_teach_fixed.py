"""A small Dreamer learns a model of a cart on a rail and trains its actor and its critic on dreamed
rollouts. The lambda-returns that the critic is regressed on are built from detached values.

Round 32
Class: the line
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.distributions import Independent, Normal, kl_divergence
from torch.nn import functional as F
from torch.nn.utils import clip_grad_norm_


@dataclass
class Config:
    updates: int = 40
    episodes: int = 12
    length: int = 16
    horizon: int = 8
    deter: int = 24
    stoch: int = 6
    gamma: float = 0.95
    lam: float = 0.9


cfg = Config()
torch.manual_seed(3201)
rng = np.random.default_rng(3201)


def gaussian(params):
    mean, raw = params.chunk(2, -1)
    return Independent(Normal(mean, F.softplus(raw) + 0.1), 1)


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 32), nn.ELU(), nn.Linear(32, n_out))


def collect(episodes, length):
    """Random pushes on the rail; the task goes on forever, an episode is only a window of it."""
    obs, act, rew = [], [], []
    for _ in range(episodes):
        x = rng.uniform(-1, 1, 2)
        o, a, r = [x.copy()], [], []
        for _ in range(length):
            push = rng.uniform(-1, 1)
            x[1] = 0.9 * x[1] + 0.2 * push
            x[0] = np.clip(x[0] + 0.2 * x[1], -2, 2)
            o.append(x.copy()), a.append([push]), r.append(-abs(x[0]))
        obs.append(o), act.append(a), rew.append(r)
    return [torch.tensor(np.array(item), dtype=torch.float32) for item in (obs, act, rew)]


class WorldModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(cfg.stoch + 1, cfg.deter)
        self.prior = mlp(cfg.deter, 2 * cfg.stoch)
        self.posterior = mlp(cfg.deter + 2, 2 * cfg.stoch)
        self.decoder = mlp(cfg.deter + cfg.stoch, 2)
        self.reward = mlp(cfg.deter + cfg.stoch, 1)

    def loss(self, obs, act, rew):
        h = torch.zeros(len(obs), cfg.deter)
        z = gaussian(self.posterior(torch.cat([h, obs[:, 0]], -1))).rsample()
        feats, kl = [], 0.0
        for t in range(act.shape[1]):
            h = self.cell(torch.cat([z, act[:, t]], -1), h)
            post = gaussian(self.posterior(torch.cat([h, obs[:, t + 1]], -1)))
            kl = kl + kl_divergence(post, gaussian(self.prior(h))).mean()
            z = post.rsample()
            feats.append(torch.cat([h, z], -1))
        feats = torch.stack(feats, 1)
        recon = F.mse_loss(self.decoder(feats), obs[:, 1:])
        reward = F.mse_loss(self.reward(feats).squeeze(-1), rew)
        return recon + reward + 0.1 * kl / act.shape[1], feats.detach().flatten(0, 1)

    def imagine(self, actor, feat):
        feats = [feat]
        for _ in range(cfg.horizon):
            h, z = feats[-1].split([cfg.deter, cfg.stoch], -1)
            h = self.cell(torch.cat([z, torch.tanh(gaussian(actor(feats[-1])).rsample())], -1), h)
            feats.append(torch.cat([h, gaussian(self.prior(h)).rsample()], -1))
        feats = torch.stack(feats)
        return feats, self.reward(feats[1:]).squeeze(-1)


def lambda_returns(rewards, next_values):
    ret, out = next_values[-1], []
    for t in reversed(range(len(rewards))):
        ret = rewards[t] + cfg.gamma * ((1 - cfg.lam) * next_values[t] + cfg.lam * ret)
        out.append(ret)
    return torch.stack(out[::-1])


def critic_loss(critic, feats, rewards):
    values = critic(feats).squeeze(-1)
    targets = lambda_returns(rewards, values[1:].detach())
    return F.mse_loss(values[:-1], targets)


def update(loss, module, optimizer):
    optimizer.zero_grad()
    loss.backward()
    clip_grad_norm_(module.parameters(), 10.0)
    optimizer.step()


model, actor, critic = WorldModel(), mlp(cfg.deter + cfg.stoch, 2), mlp(cfg.deter + cfg.stoch, 1)
model_opt = torch.optim.Adam(model.parameters(), lr=3e-3)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=2e-3)

for step in range(cfg.updates):
    loss, start = model.loss(*collect(cfg.episodes, cfg.length))
    update(loss, model, model_opt)
    feats, rewards = model.imagine(actor, start)
    dreamed = lambda_returns(rewards, critic(feats[1:]).squeeze(-1))
    update(-dreamed.mean(), actor, actor_opt)
    update(critic_loss(critic, feats.detach(), rewards.detach()), critic, critic_opt)
    if step % 10 == 0:
        print(f"{step:3d} model {loss.item():.3f} dreamed return {dreamed.mean().item():.3f}")
