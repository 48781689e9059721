"""A checkpoint brings the temperature's variable back; it takes the attribute, while the optimizer keeps the old one.

Round 13
Class: late and rare
"""

import io

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(1301)
OBS, ACT, BATCH = 5, 2, 48


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS, 32), nn.ReLU())
        self.mean, self.log_std = nn.Linear(32, ACT), nn.Linear(32, ACT)

    def sample(self, obs):
        h = self.body(obs)
        dist = Normal(self.mean(h), self.log_std(h).clamp(-5, 2).exp())
        raw = dist.rsample()
        action = torch.tanh(raw)
        log_prob = (dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)).sum(-1)
        return action, log_prob


class SAC:
    def __init__(self):
        self.actor = Actor()
        self.critic = nn.Sequential(nn.Linear(OBS + ACT, 32), nn.ReLU(), nn.Linear(32, 1))
        self.log_ent_coef = torch.zeros(1, requires_grad=True)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.ent_coef_optimizer = torch.optim.Adam([self.log_ent_coef], lr=1e-3)
        self.target_entropy = -float(ACT)

    def learn(self, updates):
        for _ in range(updates):
            obs = torch.randn(BATCH, OBS)
            action, log_prob = self.actor.sample(obs)
            ent_coef_loss = -(self.log_ent_coef * (log_prob + self.target_entropy).detach()).mean()
            self.ent_coef_optimizer.zero_grad()
            ent_coef_loss.backward()
            self.ent_coef_optimizer.step()
            ent_coef = self.log_ent_coef.exp().detach()

            taken = torch.rand(BATCH, ACT) * 2 - 1
            reward = -(taken - obs[:, :ACT]).pow(2).sum(-1)
            value = self.critic(torch.cat([obs, taken], -1)).squeeze(-1)
            critic_loss = (value - reward).pow(2).mean()
            self.critic_optimizer.zero_grad()
            critic_loss.backward()
            self.critic_optimizer.step()

            q = self.critic(torch.cat([obs, action], -1)).squeeze(-1)
            actor_loss = (ent_coef * log_prob - q).mean()
            self.actor_optimizer.zero_grad()
            actor_loss.backward()
            self.actor_optimizer.step()

    def save(self):
        file = io.BytesIO()
        torch.save(
            {
                "actor": self.actor.state_dict(),
                "critic": self.critic.state_dict(),
                "log_ent_coef": self.log_ent_coef,
            },
            file,
        )
        file.seek(0)
        return file

    def restore(self, file):
        saved = torch.load(file, weights_only=True)
        self.actor.load_state_dict(saved["actor"])
        self.critic.load_state_dict(saved["critic"])
        self.log_ent_coef.data.copy_(saved["log_ent_coef"].data)


first = SAC()
first.learn(30)
again = SAC()
again.restore(first.save())
again.learn(60)
