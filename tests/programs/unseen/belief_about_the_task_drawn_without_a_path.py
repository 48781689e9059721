"""Meta-RL with a learned belief: the latent that tells the critic which task it is in is drawn with sample(), so the
critic's error never reaches the context encoder, which is left alone with its KL term. After jankrepl/deepdow#106
(sample in the place of rsample), in the setting of rlworkgroup/garage#1138.

Round 27
Class: zero in part
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal, kl_divergence

torch.manual_seed(2704)

LATENT, CONTEXT, BATCH, TASKS = 3, 10, 24, 6
KL_WEIGHT = 1e-3


class Throws:
    """One-step tasks: hit a hidden spot of the plane; the reward tells how near the throw was."""

    def __init__(self):
        angle = torch.rand(TASKS) * 6.283
        self.goals = torch.stack([angle.cos(), angle.sin()], 1) * 0.7

    def reward(self, task, action):
        return -((action - self.goals[task]) ** 2).sum(-1)


class ContextEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.head = nn.Linear(32, 2 * LATENT)

    def forward(self, actions, rewards):
        x = torch.cat([actions, rewards.unsqueeze(-1)], -1)
        mean, raw = self.head(self.body(x).mean(0)).chunk(2, -1)
        return Normal(mean, F.softplus(raw) + 1e-3)


class Replay:
    def __init__(self):
        self.actions = [[] for _ in range(TASKS)]
        self.rewards = [[] for _ in range(TASKS)]

    def add(self, task, actions, rewards):
        self.actions[task].append(actions)
        self.rewards[task].append(rewards)

    def sample(self, task, n):
        actions, rewards = torch.cat(self.actions[task]), torch.cat(self.rewards[task])
        rows = torch.randint(len(rewards), (n,))
        return actions[rows], rewards[rows]


class Pearl:
    def __init__(self):
        self.encoder = ContextEncoder()
        self.critic = nn.Sequential(nn.Linear(2 + LATENT, 64), nn.ReLU(), nn.Linear(64, 1))
        self.actor = nn.Sequential(nn.Linear(LATENT, 32), nn.ReLU(), nn.Linear(32, 2), nn.Tanh())
        belief = [*self.critic.parameters(), *self.encoder.parameters()]
        self.critic_opt = torch.optim.Adam(belief, lr=3e-3)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.prior = Normal(torch.zeros(LATENT), torch.ones(LATENT))

    def infer(self, replay, task):
        posterior = self.encoder(*replay.sample(task, CONTEXT))
        z = posterior.sample()  # BUG GS202 GS203
        return z, kl_divergence(posterior, self.prior).sum()

    def q(self, actions, z):
        return self.critic(torch.cat([actions, z.expand(len(actions), LATENT)], 1)).squeeze(1)

    def update(self, replay):
        q_loss, kl_loss, latents = 0.0, 0.0, []
        for task in range(TASKS):
            z, kl = self.infer(replay, task)
            actions, rewards = replay.sample(task, BATCH)
            q_loss = q_loss + F.mse_loss(self.q(actions, z), rewards)
            kl_loss = kl_loss + kl
            latents.append(z.detach())
        self.critic_opt.zero_grad()
        (q_loss + KL_WEIGHT * kl_loss).backward()
        self.critic_opt.step()
        moves = [self.actor(z.unsqueeze(0)) for z in latents]
        actor_loss = -sum(self.q(move, z).mean() for move, z in zip(moves, latents))
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()
        return q_loss.item()


env, replay, agent = Throws(), Replay(), Pearl()
for task in range(TASKS):
    first = torch.rand(40, 2) * 2 - 1
    replay.add(task, first, env.reward(task, first))
for update in range(60):
    loss = agent.update(replay)
    if update % 10 == 9:
        with torch.no_grad():
            for task in range(TASKS):
                move = agent.actor(agent.infer(replay, task)[0])
                tried = (move + 0.2 * torch.randn(4, 2)).clamp(-1, 1)
                replay.add(task, tried, env.reward(task, tried))
        print(update, round(loss, 4))
