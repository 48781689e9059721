"""Fitted evaluation of a fixed policy: the layers are given weight normalisation when the optimizer exists already, which
goes on stepping the weights that are no longer used.
Repaired here.

Round 12
Class: the line
"""

import torch
from torch import nn
from torch.nn.utils import parametrizations

torch.manual_seed(1220)


class Evaluator:
    """Fits the value of a policy from logged transitions, with a frozen copy that follows every few rounds."""

    def __init__(self, obs_dim, discount=0.9):
        self.discount = discount
        self.net = self.build(obs_dim)
        self.frozen = self.build(obs_dim).requires_grad_(False)
        self.normalise()
        self.optimizer = torch.optim.RMSprop(self.net.parameters(), lr=1e-3)

    @staticmethod
    def build(obs_dim):
        return nn.Sequential(nn.Linear(obs_dim, 40), nn.ELU(), nn.Linear(40, 40), nn.ELU(), nn.Linear(40, 1))

    def normalise(self):
        for net in (self.net, self.frozen):
            for layer in net:
                if isinstance(layer, nn.Linear):
                    parametrizations.weight_norm(layer)
        self.follow()

    def follow(self):
        self.frozen.load_state_dict(self.net.state_dict())

    def fit(self, obs, reward, ended, after):
        with torch.no_grad():
            goal = reward + self.discount * (1 - ended) * self.frozen(after).squeeze(-1)
        loss = nn.functional.huber_loss(self.net(obs).squeeze(-1), goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def log_of_transitions(size):
    obs = torch.randn(size, 6)
    after = 0.7 * obs + 0.3 * torch.randn(size, 6)
    ended = (after[:, 0] > 1.5).float()
    return obs, obs[:, 1] - 0.5 * obs[:, 2].abs(), ended, after


evaluator = Evaluator(obs_dim=6)
log = log_of_transitions(500)
for round_ in range(80):
    pick = torch.randint(500, (50,))
    loss = evaluator.fit(*(column[pick] for column in log))
    if round_ % 10 == 9:
        evaluator.follow()
print("loss", loss)
