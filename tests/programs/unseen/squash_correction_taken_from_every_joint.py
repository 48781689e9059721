"""The correction for the squashing of an action is summed over the joints and then taken from the density of each joint,
so the sum that follows counts it once per joint.

Round 14
Class: axes
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal

OBS, JOINTS, BATCH, EPS = 6, 4, 30, 1e-6


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS, 32), nn.ReLU())
        self.mean, self.log_std = nn.Linear(32, JOINTS), nn.Linear(32, JOINTS)

    def evaluate(self, state):
        hidden = self.body(state)
        normal = Normal(self.mean(hidden), self.log_std(hidden).clamp(-5, 2).exp())
        x_t = normal.rsample()
        action = torch.tanh(x_t)
        log_prob = normal.log_prob(x_t)
        log_prob = log_prob - torch.log(1 - action.pow(2) + EPS).sum(-1, keepdim=True)  # BUG GS601 GS603
        return action, log_prob.sum(-1, keepdim=True)


def critic():
    return nn.Sequential(nn.Linear(OBS + JOINTS, 32), nn.ReLU(), nn.Linear(32, 1))


class SoftActorCritic:
    """The early form, with a network for the value of a state."""

    def __init__(self, alpha=0.1, gamma=0.95, tau=0.02):
        self.alpha, self.gamma, self.tau = alpha, gamma, tau
        self.policy, self.q1, self.q2 = Policy(), critic(), critic()
        self.value = nn.Sequential(nn.Linear(OBS, 32), nn.ReLU(), nn.Linear(32, 1))
        self.value_target = copy.deepcopy(self.value).requires_grad_(False)
        self.policy_optim = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.value_optim = torch.optim.Adam(self.value.parameters(), lr=1e-3)
        self.q_optim = torch.optim.Adam([*self.q1.parameters(), *self.q2.parameters()], lr=1e-3)

    def soft_q(self, state, action):
        both = torch.cat([state, action], dim=-1)
        return self.q1(both), self.q2(both)

    def fit_critics(self, state, action, reward, following, mask):
        with torch.no_grad():
            goal = reward + mask * self.gamma * self.value_target(following)
        first, second = self.soft_q(state, action)
        self.minimise(self.q_optim, F.mse_loss(first, goal) + F.mse_loss(second, goal))

    def fit_policy_and_value(self, state):
        action, log_pi = self.policy.evaluate(state)
        least = torch.min(*self.soft_q(state, action))
        goal = (least - self.alpha * log_pi).detach()
        self.minimise(self.policy_optim, (self.alpha * log_pi - least).mean())
        self.minimise(self.value_optim, F.mse_loss(self.value(state), goal))
        return -log_pi.mean().item()

    @staticmethod
    def minimise(optim, loss):
        optim.zero_grad()
        loss.backward()
        optim.step()

    @torch.no_grad()
    def sync(self):
        for slow, fast in zip(self.value_target.parameters(), self.value.parameters(), strict=True):
            slow.lerp_(fast, self.tau)


class Replay:
    def __init__(self, size=500):
        self.state = torch.randn(size, OBS)
        self.action = torch.rand(size, JOINTS) * 2 - 1
        self.reward = -(self.action - self.state[:, :JOINTS].tanh()).pow(2).mean(-1, keepdim=True)
        self.following = 0.7 * self.state + 0.5 * torch.randn(size, OBS)
        self.mask = (torch.rand(size, 1) > 0.05).float()

    def sample(self):
        rows = torch.randint(len(self.state), (BATCH,))
        return (field[rows] for field in (self.state, self.action, self.reward, self.following, self.mask))


torch.manual_seed(1415)
agent, replay = SoftActorCritic(), Replay()
for update in range(60):
    state, *rest = replay.sample()
    agent.fit_critics(state, *rest)
    entropy = agent.fit_policy_and_value(state)
    agent.sync()
print(round(entropy, 3))
