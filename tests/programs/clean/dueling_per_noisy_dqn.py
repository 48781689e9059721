"""Rainbow-like: dueling, noisy layers with noise made anew, n-step, prioritised replay, double DQN."""

import copy

import torch
from torch import nn

torch.manual_seed(0)


class Noisy(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.mu = nn.Linear(inputs, outputs)
        self.sigma = nn.Parameter(torch.full((outputs, inputs), 0.02))
        self.register_buffer("noise", torch.zeros(outputs, inputs))

    def resample(self):
        self.noise = torch.randn_like(self.noise)

    def forward(self, x):
        return nn.functional.linear(x, self.mu.weight + self.sigma * self.noise, self.mu.bias)


class Dueling(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.ReLU())
        self.value, self.advantage = Noisy(16, 1), Noisy(16, 3)

    def forward(self, obs):
        for layer in (self.value, self.advantage):
            layer.resample()
        hidden = self.body(obs)
        a = self.advantage(hidden)
        return self.value(hidden) + a - a.mean(1, keepdim=True)


q = Dueling()
lagged = copy.deepcopy(q)
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3, eps=1e-4)
priorities = torch.ones(64)
for step in range(16):
    index = torch.multinomial(priorities, 16)
    weights = (64 * priorities[index] / priorities.sum()).pow(-0.4)
    weights = weights / weights.max()
    obs, action, next_obs = torch.randn(16, 4), torch.randint(3, (16,)), torch.randn(16, 4)
    reward = sum(0.99**k * torch.randn(16) for k in range(3))
    with torch.no_grad():
        best = q(next_obs).argmax(1)
        wanted = reward + 0.99**3 * lagged(next_obs)[torch.arange(16), best]
    error = q(obs)[torch.arange(16), action] - wanted
    loss = (weights * nn.functional.smooth_l1_loss(error, torch.zeros_like(error), reduction="none")).mean()
    q.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(q.parameters(), 10)
    optimizer.step()
    priorities[index] = error.detach().abs() + 1e-3
    if step % 4 == 3:
        lagged.load_state_dict(q.state_dict())
