"""Conservative offline learning: the critics are to be lowered at the policy's own actions, which are drawn with a path
back to it. The critics' loss fills the policy's gradient before the policy's own loss adds to it.

Round 16
Class: weights
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal

torch.manual_seed(1603)
OBS, ACT, SAMPLES, ALPHA, WEIGHT, GAMMA = 5, 2, 4, 0.1, 1.0, 0.95


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS, 32), nn.ReLU())
        self.mean, self.log_std = nn.Linear(32, ACT), nn.Linear(32, ACT)

    def forward(self, obs):
        x = self.body(obs)
        dist = Normal(self.mean(x), self.log_std(x).clamp(-4, 1).exp())
        raw = dist.rsample()
        squash = 2 * (0.6931 - raw - F.softplus(-2 * raw))
        return torch.tanh(raw), (dist.log_prob(raw) - squash).sum(-1)


class Critics(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList(
            nn.Sequential(nn.Linear(OBS + ACT, 32), nn.ReLU(), nn.Linear(32, 1)) for _ in range(2)
        )

    def forward(self, obs, action):
        x = torch.cat([obs, action], -1)
        return torch.stack([head(x).squeeze(-1) for head in self.heads])


class ConservativeTrainer:
    def __init__(self):
        self.policy, self.critics = Policy(), Critics()
        self.slow = copy.deepcopy(self.critics).requires_grad_(False)
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critics.parameters(), lr=1e-3)

    def proposals(self, obs):
        """Actions of the policy and of chance, SAMPLES of each for every state."""
        repeated = obs.repeat_interleave(SAMPLES, 0)
        mine, density = self.policy(repeated)  # BUG GS304
        chance = torch.rand_like(mine) * 2 - 1
        return repeated, (mine, density), (chance, torch.full_like(density, ACT * -0.6931))

    def penalty(self, obs, taken):
        repeated, *drawn = self.proposals(obs)
        scores = []
        for action, density in drawn:
            value = self.critics(repeated, action)  # BUG GS304
            scores.append((value - density).view(2, -1, SAMPLES))  # BUG GS304
        return (torch.cat(scores, -1).logsumexp(-1) - taken).mean()

    def critic_loss(self, batch):
        obs, action, reward, after, done = batch
        with torch.no_grad():
            ahead, density = self.policy(after)
            value = self.slow(after, ahead).amin(0) - ALPHA * density
            target = reward + GAMMA * (1 - done) * value
        taken = self.critics(obs, action)
        return F.mse_loss(taken, target.expand_as(taken)) + WEIGHT * self.penalty(obs, taken)

    def policy_loss(self, obs):
        action, density = self.policy(obs)
        return (ALPHA * density - self.critics(obs, action).amin(0)).mean()

    def train(self, batch):
        self.policy_optimizer.zero_grad()
        self.critic_optimizer.zero_grad()
        critic_loss = self.critic_loss(batch)
        critic_loss.backward()
        self.critic_optimizer.step()
        policy_loss = self.policy_loss(batch[0])
        policy_loss.backward()
        self.policy_optimizer.step()
        with torch.no_grad():
            for target, source in zip(self.slow.parameters(), self.critics.parameters()):
                target.lerp_(source, 0.01)
        return critic_loss.item(), policy_loss.item()


def dataset(size=512):
    obs = torch.randn(size, OBS)
    action = torch.tanh(obs[:, :ACT] + 0.5 * torch.randn(size, ACT))
    after = obs + 0.1 * torch.randn(size, OBS)
    after[:, :ACT] += 0.2 * action
    reward = -(action - obs[:, :ACT].tanh()).pow(2).sum(-1)
    return obs, action, reward, after, (torch.rand(size) < 0.05).float()


data, trainer = dataset(), ConservativeTrainer()
for _ in range(60):
    rows = torch.randint(512, (32,))
    losses = trainer.train([column[rows] for column in data])
print(losses)
