"""The forward model of an intrinsic curiosity module keeps its residual blocks in a ModuleList, and the optimizer owns
them with the rest. See the review of opendilab/DI-engine#41.

Round 25
Class: weights
"""

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(2504)
np.random.seed(2504)
FEATURES, ACTIONS, GAMMA, ETA, BETA = 16, 3, 0.97, 0.2, 0.2


class ICM(nn.Module):
    def __init__(self, obs_dim, n_actions, n_blocks=3):
        super().__init__()
        self.n_actions = n_actions
        self.feature = nn.Sequential(nn.Linear(obs_dim, 32), nn.ReLU(), nn.Linear(32, FEATURES))
        self.inverse = nn.Sequential(nn.Linear(2 * FEATURES, 32), nn.ReLU(), nn.Linear(32, n_actions))
        self.residual = nn.ModuleList(
            nn.Sequential(nn.Linear(32 + n_actions, 32), nn.LeakyReLU(), nn.Linear(32, 32))
            for _ in range(n_blocks)
        )
        self.forward_in = nn.Linear(FEATURES + n_actions, 32)
        self.forward_out = nn.Linear(32 + n_actions, FEATURES)

    def forward(self, obs, next_obs, action):
        one_hot = F.one_hot(action, self.n_actions).float()
        phi, next_phi = self.feature(obs), self.feature(next_obs)
        guess = self.inverse(torch.cat([phi, next_phi], 1))
        x = F.leaky_relu(self.forward_in(torch.cat([phi.detach(), one_hot], 1)))
        for block in self.residual:
            x = x + block(torch.cat([x, one_hot], 1))
        predicted = self.forward_out(torch.cat([x, one_hot], 1))
        return guess, predicted, next_phi.detach()


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, n_actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, 64), nn.Tanh())
        self.pi, self.v = nn.Linear(64, n_actions), nn.Linear(64, 1)

    def forward(self, obs):
        h = self.body(obs)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


env = gym.make("Acrobot-v1")
agent, icm = ActorCritic(6, ACTIONS), ICM(6, ACTIONS)
optimizer = torch.optim.Adam([*agent.parameters(), *icm.parameters()], lr=1e-3)
obs, _ = env.reset(seed=2504)

for update in range(30):
    rollout = []
    for _ in range(32):
        with torch.no_grad():
            action = agent(torch.from_numpy(obs))[0].sample().item()
        next_obs, reward, terminated, truncated, _ = env.step(action)
        rollout.append((obs, action, reward, next_obs, terminated, terminated or truncated))
        obs = env.reset()[0] if terminated or truncated else next_obs
    o, a, r, o2, term, end = (torch.from_numpy(np.array(x)) for x in zip(*rollout))
    r, term, end = r.float(), term.float(), end.float()

    guess, predicted, real = icm(o, o2, a)
    surprise = 0.5 * (predicted - real).pow(2).sum(1)
    rewards = r + ETA * surprise.detach()
    with torch.no_grad():
        next_values = agent(o2)[1]
    returns, running = torch.zeros_like(rewards), next_values[-1]
    for t in reversed(range(len(rewards))):
        after = torch.where(end[t].bool(), next_values[t], running)
        running = rewards[t] + GAMMA * (1 - term[t]) * after
        returns[t] = running

    dist, values = agent(o)
    advantage = (returns - values).detach()
    policy_loss = -(dist.log_prob(a) * advantage).mean()
    value_loss = (returns - values).pow(2).mean()
    icm_loss = (1 - BETA) * F.cross_entropy(guess, a) + BETA * surprise.mean()
    loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean() + icm_loss
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], 5.0)
    optimizer.step()
