"""Soft actor-critic over discrete actions: the temperature's term already holds the log-probabilities and is multiplied by
them once more in the actor's loss; the square pays for certainty where the plain term pays for variety.

Round 15
Class: meaning
"""

import copy
import math

import torch
from torch import nn

torch.manual_seed(1506)
STATE, ACTIONS, BATCH = 6, 5, 32


def mlp(outputs):
    return nn.Sequential(nn.Linear(STATE, 40), nn.ReLU(), nn.Linear(40, outputs))


class CategoricalPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(ACTIONS)

    def log_probs(self, x):
        return torch.log_softmax(self.net(x), dim=1)


class EnsembleQ(nn.Module):
    def __init__(self, members=2):
        super().__init__()
        self.members = nn.ModuleList(mlp(ACTIONS) for _ in range(members))

    def forward(self, x):
        return torch.stack([member(x) for member in self.members])

    def lowest(self, x):
        return self(x).min(0).values

    def compute_error(self, x, action, target):
        taken = self(x).gather(2, action.expand(len(self.members), -1).unsqueeze(2)).squeeze(2)
        return (taken - target).pow(2).mean(1).sum()


class DiscreteSACImpl:
    def __init__(self, gamma=0.95, tau=0.02):
        self.policy, self.q_func = CategoricalPolicy(), EnsembleQ()
        self.targ_q_func = copy.deepcopy(self.q_func).requires_grad_(False)
        self.log_temp = nn.Parameter(torch.tensor(math.log(0.3)))
        self.actor_optim = torch.optim.Adam(self.policy.parameters(), lr=3e-3)
        self.critic_optim = torch.optim.Adam(self.q_func.parameters(), lr=3e-3)
        self.temp_optim = torch.optim.Adam([self.log_temp], lr=3e-3)
        self.gamma, self.tau = gamma, tau

    def update_critic(self, x, action, reward, x_next, terminal):
        with torch.no_grad():
            log_probs = self.policy.log_probs(x_next)
            soft = self.targ_q_func.lowest(x_next) - self.log_temp.exp() * log_probs
            target = reward + self.gamma * (1 - terminal) * (log_probs.exp() * soft).sum(1)
        loss = self.q_func.compute_error(x, action, target)
        self.critic_optim.zero_grad()
        loss.backward()
        self.critic_optim.step()
        return loss.item()

    def update_actor(self, x):
        loss = self._compute_actor_loss(x)
        self.actor_optim.zero_grad()
        loss.backward()
        self.actor_optim.step()
        return loss.item()

    def _compute_actor_loss(self, x):
        with torch.no_grad():
            q = self.q_func.lowest(x)
            temp = self.log_temp.exp()
        log_probs = self.policy.log_probs(x)
        probs = log_probs.exp()
        entropy = temp * log_probs
        return (probs * (entropy * log_probs - q)).sum(dim=1).mean()  # BUG GS802

    def update_temp(self, x):
        with torch.no_grad():
            log_probs = self.policy.log_probs(x)
            surplus = -(log_probs.exp() * log_probs).sum(1) - 0.6 * math.log(ACTIONS)
        loss = (self.log_temp.exp() * surplus).mean()
        self.temp_optim.zero_grad()
        loss.backward()
        self.temp_optim.step()
        return self.log_temp.exp().item()

    def update_target(self):
        with torch.no_grad():
            for slow, fast in zip(self.targ_q_func.parameters(), self.q_func.parameters()):
                slow.mul_(1 - self.tau).add_(fast, alpha=self.tau)


class Arms:
    """Five moves on a ring; the state says where the prize is."""

    def __init__(self):
        self.weights = torch.randn(STATE, ACTIONS)

    def batch(self):
        x, action = torch.randn(BATCH, STATE), torch.randint(ACTIONS, (BATCH,))
        reward = torch.tanh(x @ self.weights).gather(1, action.unsqueeze(1)).squeeze(1)
        x_next = 0.8 * x + 0.3 * torch.randn(BATCH, STATE)
        return x, action, reward, x_next, (torch.rand(BATCH) < 0.1).float()


impl, arms = DiscreteSACImpl(), Arms()
for step in range(80):
    x, *rest = arms.batch()
    logs = [impl.update_critic(x, *rest), impl.update_actor(x), impl.update_temp(x)]
    impl.update_target()
    if step % 20 == 0:
        print(step, logs)
