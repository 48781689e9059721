"""Offline learning with a conservative penalty: the variable behind its weight is limited after every step.

Round 15
Class: late and rare
"""

import copy

import torch
from torch import nn

torch.manual_seed(1508)
ACTIONS, BATCH = 4, 32


class Parameter(nn.Module):
    def __init__(self, data):
        super().__init__()
        self._parameter = nn.Parameter(data)

    def forward(self):
        return self._parameter


class Dataset:
    def __init__(self, size=600):
        self.obs = torch.randn(size, 5)
        self.action = torch.where(
            torch.rand(size) < 0.7, (self.obs[:, 0] > 0).long(), torch.randint(ACTIONS, (size,))
        )
        self.reward = self.obs[torch.arange(size), self.action] * 0.5
        self.after = 0.7 * self.obs + 0.3 * torch.randn(size, 5)
        self.terminal = (torch.rand(size) < 0.1).float()

    def sample(self):
        i = torch.randint(len(self.obs), (BATCH,))
        return self.obs[i], self.action[i], self.reward[i], self.after[i], self.terminal[i]


class DoubleDQNImpl:
    def __init__(self, gamma=0.95):
        self.q_func = nn.Sequential(nn.Linear(5, 48), nn.ReLU(), nn.Linear(48, ACTIONS))
        self.targ_q_func = copy.deepcopy(self.q_func).requires_grad_(False)
        self.optim = torch.optim.Adam(self.q_func.parameters(), lr=3e-3)
        self.gamma = gamma

    def compute_target(self, after, reward, terminal):
        with torch.no_grad():
            best = self.q_func(after).argmax(1, keepdim=True)
            return reward + self.gamma * (1 - terminal) * self.targ_q_func(after).gather(1, best).squeeze(1)

    def compute_loss(self, batch):
        obs, action, reward, after, terminal = batch
        taken = self.q_func(obs).gather(1, action.unsqueeze(1)).squeeze(1)
        return nn.functional.smooth_l1_loss(taken, self.compute_target(after, reward, terminal))

    def update(self, batch):
        loss = self.compute_loss(batch)
        self.optim.zero_grad()
        loss.backward()
        self.optim.step()
        return loss.item()

    def update_target(self):
        self.targ_q_func.load_state_dict(self.q_func.state_dict())


class DiscreteCQLImpl(DoubleDQNImpl):
    def __init__(self, threshold=0.8):
        super().__init__()
        self.log_alpha, self.threshold = Parameter(torch.zeros(1)), threshold
        self.alpha_optim = torch.optim.Adam(self.log_alpha.parameters(), lr=5e-2)

    def compute_gap(self, obs, action):
        values = self.q_func(obs)
        gap = values.logsumexp(1) - values.gather(1, action.unsqueeze(1)).squeeze(1)
        return gap.mean() - self.threshold

    def alpha(self):
        return self.log_alpha().exp()

    def compute_loss(self, batch):
        penalty = self.alpha().detach() * self.compute_gap(batch[0], batch[1])
        return super().compute_loss(batch) + penalty.sum()

    def update_alpha(self, batch):
        with torch.no_grad():
            gap = self.compute_gap(batch[0], batch[1])
        loss = -(self.alpha() * gap).sum()
        self.alpha_optim.zero_grad()
        loss.backward()
        self.alpha_optim.step()
        with torch.no_grad():
            self.log_alpha().clamp_(-10.0, 1.0)
        return gap.item()


dataset, impl = Dataset(), DiscreteCQLImpl()
for step in range(200):
    batch = dataset.sample()
    gap = impl.update_alpha(batch)
    loss = impl.update(batch)
    if step % 10 == 9:
        impl.update_target()
    if step % 40 == 0:
        print(step, loss, gap, impl.log_alpha().item())
