"""The learner's weights carry a prefix in their names, and the runner loads them leniently: no name fits, nothing is loaded,
and the runner acts with its first weights for ever.

Round 23
Class: weights
"""

import torch
from torch import nn

torch.manual_seed(2316)


class Core(nn.Module):
    def __init__(self, obs, acts):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(obs, 32), nn.Tanh())
        self.pi, self.vf = nn.Linear(32, acts), nn.Linear(32, 1)

    def forward(self, x):
        h = self.encoder(x)
        return self.pi(h), self.vf(h).squeeze(-1)


class Learner(nn.Module):
    """Wraps the core as a distributed learner would."""

    def __init__(self, core):
        super().__init__()
        self.module = core

    def forward(self, x):
        return self.module(x)


class Runner:
    def __init__(self, state):
        self.core = Core(6, 4)
        self.core.load_state_dict(state)
        self.prompt = torch.randn(64, 6)

    def set_state(self, state):
        self.core.load_state_dict(state, strict=False)  # BUG GS307 GS803

    def sample(self):
        with torch.no_grad():
            x = self.prompt[torch.randperm(64)[:32]]
            logits, values = self.core(x)  # BUG GS803 GS307
            dist = torch.distributions.Categorical(logits=logits)
            action = dist.sample()
            reward = (action == x[:, :4].argmax(1)).float()
            return x, action, dist.log_prob(action), reward, values


learner = Learner(Core(6, 4))
runner = Runner(learner.module.state_dict())
optimizer = torch.optim.Adam(learner.parameters(), lr=5e-3)
for iteration in range(20):
    runner.set_state(learner.state_dict())  # BUG GS307 GS803
    x, action, old, reward, values = runner.sample()
    advantage = reward - values
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    for epoch in range(3):
        logits, value = learner(x)
        dist = torch.distributions.Categorical(logits=logits)
        ratio = torch.exp(dist.log_prob(action) - old)
        policy = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        loss = policy + 0.5 * (value - reward).pow(2).mean() - 0.01 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learner.parameters(), 0.5)
        optimizer.step()
