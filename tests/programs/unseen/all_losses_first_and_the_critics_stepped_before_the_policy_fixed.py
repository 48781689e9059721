"""A trainer computes all losses, then updates the critics one by one, and the policy through the critics last.

Round 13
Class: the line
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(1308)
OBS, ACT = 6, 2


def mlp(inputs, outputs):
    return nn.Sequential(
        nn.Linear(inputs, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, outputs)
    )


class TanhGaussian(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(OBS, 2 * ACT)

    def forward(self, obs):
        mean, log_std = self.net(obs).chunk(2, -1)
        dist = Normal(mean, log_std.clamp(-8, 2).exp())
        raw = dist.rsample()
        action = raw.tanh()
        log_pi = (dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)).sum(-1, keepdim=True)
        return action, log_pi


class SACTrainer:
    def __init__(self):
        self.policy = TanhGaussian()
        self.qf1, self.qf2 = mlp(OBS + ACT, 1), mlp(OBS + ACT, 1)
        self.target_qf1, self.target_qf2 = mlp(OBS + ACT, 1), mlp(OBS + ACT, 1)
        self.target_qf1.load_state_dict(self.qf1.state_dict())
        self.target_qf2.load_state_dict(self.qf2.state_dict())
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.qf1_optimizer = torch.optim.Adam(self.qf1.parameters(), lr=1e-3)
        self.qf2_optimizer = torch.optim.Adam(self.qf2.parameters(), lr=1e-3)
        self.criterion = nn.MSELoss()

    def train_from(self, obs, actions, rewards, next_obs, terminals):
        new_actions, log_pi = self.policy(obs)
        joined = torch.cat([obs, new_actions], 1)
        policy_loss = (0.2 * log_pi - torch.min(self.qf1(joined), self.qf2(joined))).mean()

        q1_pred, q2_pred = self.qf1(torch.cat([obs, actions], 1)), self.qf2(torch.cat([obs, actions], 1))
        next_actions, next_log_pi = self.policy(next_obs)
        ahead = torch.cat([next_obs, next_actions], 1)
        target = torch.min(self.target_qf1(ahead), self.target_qf2(ahead)) - 0.2 * next_log_pi
        q_target = rewards + (1.0 - terminals) * 0.97 * target
        qf1_loss = self.criterion(q1_pred, q_target.detach())
        qf2_loss = self.criterion(q2_pred, q_target.detach())

        self.policy_optimizer.zero_grad()
        policy_loss.backward()
        self.policy_optimizer.step()

        self.qf1_optimizer.zero_grad()
        qf1_loss.backward()
        self.qf1_optimizer.step()

        self.qf2_optimizer.zero_grad()
        qf2_loss.backward()
        self.qf2_optimizer.step()

        for net, target_net in ((self.qf1, self.target_qf1), (self.qf2, self.target_qf2)):
            for p, t in zip(net.parameters(), target_net.parameters()):
                t.data.copy_(t.data * 0.995 + p.data * 0.005)


trainer = SACTrainer()
for _ in range(40):
    obs, actions = torch.randn(32, OBS), torch.rand(32, ACT) * 2 - 1
    rewards = -(actions - obs[:, :ACT].tanh()).pow(2).sum(1, keepdim=True)
    next_obs = 0.9 * obs + 0.2 * torch.randn(32, OBS)
    trainer.train_from(obs, actions, rewards, next_obs, (torch.rand(32, 1) < 0.05).float())
