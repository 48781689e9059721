"""An ensemble of models is checked on held-out data after every round; each member's best error so far is the minimum
of the last best and the new one, with gradients on, so that it holds the graph of every check since the first.

Round 16
Class: stays alive
"""

import torch
from torch import nn

torch.manual_seed(1614)
OBS, ACT, MEMBERS, ELITES = 4, 2, 5, 3


class EnsembleLayer(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(MEMBERS, inputs, outputs) / inputs**0.5)
        self.bias = nn.Parameter(torch.zeros(MEMBERS, 1, outputs))

    def forward(self, x):
        return torch.baddbmm(self.bias, x, self.weight)


class DynamicsEnsemble(nn.Module):
    """Each member predicts the change of the observation and the reward."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(EnsembleLayer(OBS + ACT, 32), nn.SiLU(), EnsembleLayer(32, OBS + 1))

    def forward(self, obs, action):
        x = torch.cat([obs, action], -1)
        out = self.layers(x if x.dim() == 3 else x.expand(MEMBERS, *x.shape))
        return obs + out[..., :OBS], out[..., OBS]

    def errors(self, obs, action, after, reward):
        guess, pay = self(obs, action)
        return (guess - after).pow(2).mean((1, 2)) + (pay - reward).pow(2).mean(1)


class ModelBased:
    def __init__(self):
        self.model = DynamicsEnsemble()
        self.actor = nn.Sequential(nn.Linear(OBS, 32), nn.Tanh(), nn.Linear(32, ACT), nn.Tanh())
        self.model_optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.best = torch.full((MEMBERS,), float("inf"))
        self.patience, self.elites = 0, torch.arange(ELITES)

    def fit(self, batch):
        loss = self.model.errors(*batch).sum()
        self.model_optimizer.zero_grad()
        loss.backward()
        self.model_optimizer.step()

    def check(self, held_out):
        errors = self.model.errors(*held_out)  # BUG GS305
        improved = (errors < 0.99 * self.best).any()
        self.patience = 0 if improved else self.patience + 1
        self.best = torch.minimum(self.best, errors)  # BUG GS305
        self.elites = errors.argsort()[:ELITES]
        return errors.mean().item()

    def improve(self, obs, horizon=3):
        state, total = obs.expand(MEMBERS, *obs.shape), 0.0
        for t in range(horizon):
            state, reward = self.model(state, self.actor(state))
            total = total + 0.95**t * reward[self.elites].mean()
        self.actor_optimizer.zero_grad()
        (-total).backward()
        self.actor_optimizer.step()


def collect(size, actor=None):
    obs = torch.randn(size, OBS)
    with torch.no_grad():
        action = (
            torch.rand(size, ACT) * 2 - 1
            if actor is None
            else (actor(obs) + 0.2 * torch.randn(size, ACT)).clamp(-1, 1)
        )
    after = 0.95 * obs + 0.02 * torch.randn(size, OBS)
    after[:, :ACT] += 0.3 * action
    return obs, action, after, -after.pow(2).sum(-1)


agent, held_out = ModelBased(), collect(64)
for iteration in range(50):
    batch = collect(48, agent.actor if iteration > 5 else None)
    for _ in range(3):
        agent.fit(batch)
    error = agent.check(held_out)
    agent.improve(batch[0])
    if agent.patience > 15:
        break
print(f"held-out error {error:.4f}, best {agent.best.min().item():.4f}")
