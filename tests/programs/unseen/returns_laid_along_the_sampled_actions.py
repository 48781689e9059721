"""Calibrated offline learning: the values of sampled actions are kept above the return of their transition; the returns
are a vector, there are as many samples as transitions, and each sample is held to another transition's return.

Round 15
Class: axes
"""

import copy

import torch
from torch import nn
from torch.distributions import Independent, Normal

torch.manual_seed(1514)
OBS, ACT, BATCH, SAMPLES = 6, 2, 10, 10


class Ensemble(nn.Module):
    def __init__(self, members=2):
        super().__init__()
        sizes = OBS + ACT
        self.members = nn.ModuleList(
            nn.Sequential(nn.Linear(sizes, 40), nn.ReLU(), nn.Linear(40, 1)) for _ in range(members)
        )

    def forward(self, obs, action):
        pair = torch.cat([obs, action], -1)
        return torch.stack([member(pair).squeeze(-1) for member in self.members])


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS, 40), nn.ReLU())
        self.mean, self.log_std = nn.Linear(40, ACT), nn.Linear(40, ACT)

    def sample(self, obs):
        hidden = self.body(obs)
        dist = Independent(Normal(self.mean(hidden), self.log_std(hidden).clamp(-4, 1).exp()), 1)
        raw = dist.rsample()
        action = torch.tanh(raw)
        return action, dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6).sum(-1)


class CQLImpl:
    weight, gamma, temp = 0.5, 0.95, 0.1

    def __init__(self):
        self.policy, self.q_func = Policy(), Ensemble()
        self.targ_q_func = copy.deepcopy(self.q_func).requires_grad_(False)
        self.actor_optim = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.critic_optim = torch.optim.Adam(self.q_func.parameters(), lr=1e-3)

    def policy_values(self, obs, returns):
        """Values of the policy's actions and their log-probabilities: members by transitions by samples."""
        repeated = obs.unsqueeze(1).expand(-1, SAMPLES, -1)
        with torch.no_grad():
            action, log_prob = self.policy.sample(repeated)
        return self.q_func(repeated, action), log_prob

    def random_values(self, obs):
        repeated = obs.unsqueeze(1).expand(-1, SAMPLES, -1)
        action = torch.rand(len(obs), SAMPLES, ACT) * 2 - 1
        return self.q_func(repeated, action), ACT * torch.log(torch.tensor(0.5))

    def conservative_loss(self, batch):
        policy_values, log_prob = self.policy_values(batch["obs"], batch["returns"])
        random_values, log_density = self.random_values(batch["obs"])
        together = torch.cat([policy_values - log_prob, random_values - log_density], 2)
        return (together.logsumexp(2) - self.q_func(batch["obs"], batch["action"])).mean()

    def update_critic(self, batch):
        with torch.no_grad():
            action, log_prob = self.policy.sample(batch["after"])
            lowest = self.targ_q_func(batch["after"], action).min(0).values
            goal = batch["reward"] + self.gamma * (1 - batch["terminal"]) * (lowest - self.temp * log_prob)
        td_loss = (self.q_func(batch["obs"], batch["action"]) - goal).pow(2).mean()
        loss = td_loss + self.weight * self.conservative_loss(batch)
        self.critic_optim.zero_grad()
        loss.backward()
        self.critic_optim.step()
        return loss.item()

    def update_actor(self, batch):
        action, log_prob = self.policy.sample(batch["obs"])
        loss = (self.temp * log_prob - self.q_func(batch["obs"], action).min(0).values).mean()
        self.actor_optim.zero_grad()
        loss.backward()
        self.actor_optim.step()
        return loss.item()

    @torch.no_grad()
    def update_target(self):
        for slow, fast in zip(self.targ_q_func.parameters(), self.q_func.parameters()):
            slow.lerp_(fast, 0.01)


class CalQLImpl(CQLImpl):
    def policy_values(self, obs, returns):
        values, log_prob = super().policy_values(obs, returns)
        return torch.maximum(values, returns), log_prob  # BUG GS601


class Dataset:
    def __init__(self, size=400):
        self.columns = {"obs": torch.randn(size, OBS), "action": torch.rand(size, ACT) * 2 - 1}
        obs, action = self.columns.values()
        self.columns["after"] = 0.8 * obs + 0.2 * action.repeat(1, 3)
        self.columns["reward"] = 0.6 - self.columns["after"].pow(2).mean(1)
        self.columns["returns"] = self.columns["reward"] * 3 + 0.3 * torch.randn(size)
        self.columns["terminal"] = (torch.rand(size) < 0.1).float()

    def sample(self):
        index = torch.randint(len(self.columns["obs"]), (BATCH,))
        return {name: column[index] for name, column in self.columns.items()}


impl, dataset = CalQLImpl(), Dataset()
for step in range(60):
    batch = dataset.sample()
    logs = impl.update_critic(batch), impl.update_actor(batch)
    impl.update_target()
    if step % 20 == 0:
        print(step, *logs)
