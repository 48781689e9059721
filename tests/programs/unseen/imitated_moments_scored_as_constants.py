"""Self-imitation: the replayed log-probabilities come out of the shared helper detached, so what went better than
expected teaches the value alone; the policy learns from the fresh rollout only.

Round 15
Class: the line
"""

import collections
import random

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1503)
random.seed(1503)


class Corridor:
    """Walk to the right end of a corridor within twelve steps; each step costs a little."""

    def reset(self):
        self.place, self.time = 2, 0
        return self.look()

    def look(self):
        return np.eye(7, dtype=np.float32)[self.place]

    def step(self, action):
        self.place = max(0, min(6, self.place + (1 if action == 1 else -1 if action == 0 else 0)))
        self.time += 1
        arrived = self.place == 6
        return self.look(), 1.0 if arrived else -0.02, arrived or self.time == 12


class ActorCritic:
    gamma = 0.97

    def __init__(self):
        self.body = nn.Sequential(nn.Linear(7, 32), nn.Tanh())
        self.pi, self.v = nn.Linear(32, 3), nn.Linear(32, 1)
        self.net = nn.ModuleList([self.body, self.pi, self.v])
        self.optim = torch.optim.Adam(self.net.parameters(), lr=3e-3)

    def act(self, obs):
        with torch.no_grad():
            return Categorical(logits=self.pi(self.body(torch.from_numpy(obs)))).sample().item()

    def calc_pdparam_v(self, batch):
        hidden = self.body(batch["states"])
        return self.pi(hidden), self.v(hidden).squeeze(-1)

    def calc_log_probs(self, pdparam, batch):
        return Categorical(logits=pdparam).log_prob(batch["actions"])

    def calc_loss(self, batch):
        pdparam, v_preds = self.calc_pdparam_v(batch)
        advs = (batch["rets"] - v_preds).detach()
        policy_loss = -(self.calc_log_probs(pdparam, batch) * advs).mean()
        entropy = Categorical(logits=pdparam).entropy().mean()
        return policy_loss + 0.5 * (v_preds - batch["rets"]).pow(2).mean() - 0.01 * entropy

    def train_step(self, loss):
        self.optim.zero_grad()
        loss.backward()
        self.optim.step()
        return loss.item()


class SelfImitation(ActorCritic):
    def __init__(self, keep=400, batch_size=20):
        super().__init__()
        self.replay, self.batch_size = collections.deque(maxlen=keep), batch_size

    def remember(self, batch):
        self.replay.extend(zip(batch["states"], batch["actions"], batch["rets"]))

    def replayed(self):
        states, actions, rets = zip(*random.sample(self.replay, self.batch_size))
        return {"states": torch.stack(states), "actions": torch.stack(actions), "rets": torch.stack(rets)}

    def calc_sil_loss(self, batch):
        pdparam, v_preds = self.calc_pdparam_v(batch)
        clipped_advs = torch.clamp(batch["rets"] - v_preds, min=0.0)
        log_probs = self.calc_log_probs(pdparam, batch).detach()  # BUG GS202
        sil_policy_loss = -(log_probs * clipped_advs.detach()).mean()
        sil_value_loss = 0.5 * clipped_advs.pow(2).mean()
        return sil_policy_loss + 0.1 * sil_value_loss

    def train(self, batch):
        loss = self.train_step(self.calc_loss(batch))
        self.remember(batch)
        imitation = 0.0
        if len(self.replay) >= 2 * self.batch_size:
            imitation = self.train_step(self.calc_sil_loss(self.replayed()))
        return loss, imitation


def episode(env, agent):
    obs, states, actions, rewards, done = env.reset(), [], [], [], False
    while not done:
        action = agent.act(obs)
        states.append(obs)
        actions.append(action)
        obs, reward, done = env.step(action)
        rewards.append(reward)
    rets = np.zeros(len(rewards), dtype=np.float32)
    following = 0.0
    for t in reversed(range(len(rewards))):
        following = rewards[t] + agent.gamma * following
        rets[t] = following
    return {
        "states": torch.from_numpy(np.stack(states)),
        "actions": torch.tensor(actions),
        "rets": torch.from_numpy(rets),
    }, sum(rewards)


env, agent = Corridor(), SelfImitation()
for number in range(60):
    batch, total = episode(env, agent)
    losses = agent.train(batch)
    if number % 20 == 0:
        print(number, total, losses)
