"""QMIX: the agents' networks are kept in a tuple, which the module does not register.

Round 2
Class: the line
"""

import torch
from torch import nn

torch.manual_seed(237)


class QMix(nn.Module):
    def __init__(self, agents=3, obs_dim=4, actions=3, state_dim=6):
        super().__init__()
        self.agents = tuple(self.make_agent(obs_dim, actions) for _ in range(agents))  # BUG GS205
        self.hyper = nn.Linear(state_dim, agents)
        self.bias = nn.Linear(state_dim, 1)

    @staticmethod
    def make_agent(obs_dim, actions):
        return nn.Sequential(nn.Linear(obs_dim, 24), nn.ReLU(), nn.Linear(24, actions))

    def forward(self, obs, actions, state):
        chosen = [q(obs[:, i]).gather(1, actions[:, i : i + 1]) for i, q in enumerate(self.agents)]
        mixed = torch.cat(chosen, 1) * self.hyper(state).abs()
        return mixed.sum(1) + self.bias(state).squeeze(-1)


mixer = QMix()
optimizer = torch.optim.RMSprop(mixer.parameters(), lr=5e-4)  # BUG GS205
for update in range(60):
    obs, state = torch.randn(32, 3, 4), torch.randn(32, 6)
    actions = torch.randint(3, (32, 3))
    returns = (actions == obs[..., :3].argmax(-1)).float().sum(1)
    loss = nn.functional.mse_loss(mixer(obs, actions, state), returns)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
