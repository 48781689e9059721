"""A reward head predicts a column for every step of every sequence and is scored with rewards that have none: there are
Repaired here.
as many sequences as steps, so the two broadcast without a word.

Round 14
Class: axes
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Independent, Normal

SIZE = 12  # sequences in a batch, and steps in a sequence
OBS, ACT, DETER, STOCH = 5, 2, 16, 6


class State(NamedTuple):
    mean: torch.Tensor
    std: torch.Tensor
    stoch: torch.Tensor
    deter: torch.Tensor

    @property
    def features(self):
        return torch.cat([self.stoch, self.deter], dim=-1)


class DenseModel(nn.Module):
    def __init__(self, inputs, shape):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inputs, 32), nn.ELU(), nn.Linear(32, shape))

    def forward(self, features):
        return Independent(Normal(self.net(features), 1.0), 1)


class WorldModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(OBS, 32), nn.ELU(), nn.Linear(32, 16))
        self.cell = nn.GRUCell(STOCH + ACT, DETER)
        self.prior_head = nn.Linear(DETER, 2 * STOCH)
        self.post_head = nn.Linear(DETER + 16, 2 * STOCH)
        self.observation_model = DenseModel(STOCH + DETER, OBS)
        self.reward_net = nn.Sequential(nn.Linear(STOCH + DETER, 32), nn.ELU(), nn.Linear(32, 1))

    def reward_model(self, features):
        return Normal(self.reward_net(features), 1.0)

    def state(self, raw, deter):
        mean, std = raw.chunk(2, dim=-1)
        std = F.softplus(std) + 0.1
        return State(mean, std, mean + std * torch.randn_like(std), deter)

    def rollout(self, embed, actions):
        deter, stoch = torch.zeros(SIZE, DETER), torch.zeros(SIZE, STOCH)
        priors, posts = [], []
        for t in range(len(embed)):
            deter = self.cell(torch.cat([stoch, actions[t]], dim=-1), deter)
            priors.append(self.state(self.prior_head(deter), deter))
            posts.append(self.state(self.post_head(torch.cat([deter, embed[t]], dim=-1)), deter))
            stoch = posts[-1].stoch
        return tuple(
            State(*(torch.stack(column) for column in zip(*states, strict=True)))
            for states in (priors, posts)
        )


class Replay:
    """Fields of [time, batch, …], as the sampler wrote them; rewards are [time, batch]."""

    def __init__(self, steps=60, copies=20):
        self.action = torch.randn(steps, copies, ACT)
        rows, x = [], torch.randn(copies, OBS)
        for t in range(steps):
            x = 0.8 * x + 0.4 * F.pad(self.action[t], (0, OBS - ACT)) + 0.1 * torch.randn(copies, OBS)
            rows.append(x)
        self.observation = torch.stack(rows)
        self.reward = 2 * self.observation[..., 0] + self.action[..., 1]

    def sample_batch(self):
        start = int(torch.randint(len(self.action) - SIZE, (1,)))
        chosen = torch.randperm(self.action.shape[1])[:SIZE]
        window = slice(start, start + SIZE)
        return self.observation[window, chosen], self.action[window, chosen], self.reward[window, chosen]


class Algo:
    kl_scale, free_nats = 0.5, 1.0

    def __init__(self):
        self.model, self.replay = WorldModel(), Replay()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=3e-3)

    def loss(self, observation, action, reward):
        prior, post = self.model.rollout(self.model.encoder(observation), action)
        features = post.features
        image_loss = -self.model.observation_model(features).log_prob(observation).mean()
        reward_loss = -self.model.reward_model(features).log_prob(reward).mean()
        div = torch.distributions.kl_divergence(Normal(post.mean, post.std), Normal(prior.mean, prior.std))
        div = div.sum(-1).mean().clamp(min=self.free_nats)
        return image_loss + reward_loss + self.kl_scale * div, reward_loss

    def optimize_agent(self, updates):
        infos = []
        for _ in range(updates):
            observation, action, reward = self.replay.sample_batch()
            loss, reward_loss = self.loss(observation, action, reward.unsqueeze(2))
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 100.0)
            self.optimizer.step()
            infos.append(reward_loss.item())
        return infos


torch.manual_seed(1407)
print(Algo().optimize_agent(40)[-1])
