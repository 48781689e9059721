"""Offline learning of a discrete policy by weighted cloning. An entropy term divides the policy's probability by the
logged one; its coefficient is zero here, and some logged propensities are zero too: the limit catches the infinite
ratio on the way forward, and nothing catches what zero times infinity makes of it on the way back.

Round 17
Class: magnitude
"""

import copy
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1701)
OBS, ACTIONS, BATCH = 6, 4, 32


@dataclass
class Options:
    discount: float = 0.95
    temperature: float = 1.0
    weight_limit: float = 20.0
    ratio_limit: float = 10.0
    entropy_coefficient: float = 0.0
    policy_delay: int = 2
    rate: float = 0.05


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 48), nn.ReLU(), nn.Linear(48, outputs))


class LoggedData:
    """What a running system wrote down; hand-made decisions were logged with a propensity of zero."""

    def __init__(self, size=1024):
        self.obs, self.after = torch.randn(size, OBS), torch.randn(size, OBS)
        self.action = torch.randint(ACTIONS, (size,))
        self.reward = (self.action == self.obs[:, :ACTIONS].argmax(1)).float()
        self.propensity = torch.full((size,), 1 / ACTIONS)
        self.propensity[torch.rand(size) < 0.02] = 0.0
        self.ended = (torch.rand(size) < 0.1).float()

    def sample(self):
        rows = torch.randint(len(self.reward), (BATCH,))
        fields = (self.obs, self.action, self.reward, self.after, self.ended, self.propensity)
        return [field[rows] for field in fields]


class Trainer:
    def __init__(self, options):
        self.options = options
        self.actor, self.critic = mlp(OBS, ACTIONS), mlp(OBS, ACTIONS)
        self.slow_actor = copy.deepcopy(self.actor).requires_grad_(False)
        self.slow_critic = copy.deepcopy(self.critic).requires_grad_(False)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def critic_loss(self, obs, action, reward, after, ended):
        with torch.no_grad():
            expected = (F.softmax(self.slow_actor(after), -1) * self.slow_critic(after)).sum(-1)
            goal = reward + self.options.discount * (1 - ended) * expected
        taken = self.critic(obs).gather(1, action.unsqueeze(1)).squeeze(1)
        return F.mse_loss(taken, goal)

    def actor_loss(self, obs, action, propensity):
        log_probs = F.log_softmax(self.actor(obs), -1)
        chosen = log_probs.gather(1, action.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            values = self.critic(obs)
            advantage = values.gather(1, action.unsqueeze(1)).squeeze(1) - (log_probs.exp() * values).sum(-1)
            weight = (advantage / self.options.temperature).exp().clamp(max=self.options.weight_limit)
        ratio = (chosen.exp() / propensity).clamp(1e-4, self.options.ratio_limit)  # BUG GS503
        entropy = -(ratio * chosen).mean()
        return -(weight * chosen).mean() - self.options.entropy_coefficient * entropy  # BUG GS503

    def update(self, number, obs, action, reward, after, ended, propensity):
        loss = self.critic_loss(obs, action, reward, after, ended)
        self.critic_opt.zero_grad()
        loss.backward()
        self.critic_opt.step()
        if number % self.options.policy_delay == 0:
            self.actor_opt.zero_grad()
            self.actor_loss(obs, action, propensity).backward()
            self.actor_opt.step()
        with torch.no_grad():
            for slow, fast in ((self.slow_actor, self.actor), (self.slow_critic, self.critic)):
                for mine, theirs in zip(slow.parameters(), fast.parameters()):
                    mine.lerp_(theirs, self.options.rate)
        return loss.item()


data, trainer = LoggedData(), Trainer(Options())
history = [trainer.update(number, *data.sample()) for number in range(80)]
print("critic", sum(history[-10:]) / 10)
