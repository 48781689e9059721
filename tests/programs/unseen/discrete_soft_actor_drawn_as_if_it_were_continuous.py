"""Discrete soft actor-critic on the pole, made from the continuous one: the actor's loss looks up the value of an
action that was drawn, through which nothing flows, in place of the expectation over the actions.

Round 29
Class: zero in part
"""

import copy
import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

ALPHA, GAMMA, TAU, BATCH = 0.05, 0.98, 0.01, 64

random.seed(2903)
torch.manual_seed(2903)


def layers(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, n_out))


class DiscreteSAC:
    def __init__(self, n_obs, n_act):
        self.actor = layers(n_obs, n_act)
        self.q1, self.q2 = layers(n_obs, n_act), layers(n_obs, n_act)
        self.q1_target, self.q2_target = copy.deepcopy(self.q1), copy.deepcopy(self.q2)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.q_opt = torch.optim.Adam([*self.q1.parameters(), *self.q2.parameters()], lr=1e-3)

    @torch.no_grad()
    def act(self, obs):
        return Categorical(logits=self.actor(torch.from_numpy(obs))).sample().item()

    def critic_update(self, obs, action, reward, following, ended):
        with torch.no_grad():
            log_pi = self.actor(following).log_softmax(-1)
            q = torch.min(self.q1_target(following), self.q2_target(following))
            soft_value = (log_pi.exp() * (q - ALPHA * log_pi)).sum(-1)
            target = reward + GAMMA * (1 - ended) * soft_value
        index = action.unsqueeze(-1)
        q1 = self.q1(obs).gather(1, index).squeeze(-1)
        q2 = self.q2(obs).gather(1, index).squeeze(-1)
        loss = F.mse_loss(q1, target) + F.mse_loss(q2, target)
        self.q_opt.zero_grad()
        loss.backward()
        self.q_opt.step()

    def actor_update(self, obs):
        with torch.no_grad():
            q = torch.min(self.q1(obs), self.q2(obs))
        policy = Categorical(logits=self.actor(obs))
        action = policy.sample()  # BUG GS203
        log_pi = policy.log_prob(action)
        q = q.gather(1, action.unsqueeze(-1)).squeeze(-1)  # BUG GS203
        loss = (ALPHA * log_pi - q).mean()  # BUG GS203
        self.actor_opt.zero_grad()
        loss.backward()
        self.actor_opt.step()

    @torch.no_grad()
    def sync(self):
        for net, slow in ((self.q1, self.q1_target), (self.q2, self.q2_target)):
            for p, s in zip(net.parameters(), slow.parameters()):
                s.mul_(1 - TAU).add_(p, alpha=TAU)


env = gym.make("CartPole-v1")
agent = DiscreteSAC(4, 2)
memory = deque(maxlen=2000)
obs, _ = env.reset(seed=2903)
for step in range(280):
    action = agent.act(obs)
    following, reward, terminated, truncated, _ = env.step(action)
    memory.append((obs, action, reward, following, terminated))
    obs = env.reset()[0] if terminated or truncated else following
    if step >= 100:
        o, a, r, n, d = zip(*random.sample(memory, BATCH))
        o, n = torch.from_numpy(np.stack(o)), torch.from_numpy(np.stack(n))
        agent.critic_update(o, torch.tensor(a), torch.tensor(r), n, torch.tensor(d).float())
        agent.actor_update(o)
        agent.sync()
