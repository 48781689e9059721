"""A multi-agent recurrent learner resets each agent's state by writing to the views that unbind gave.

Class: forward errors
"""

import torch
from torch import nn

torch.manual_seed(11)
AGENTS, ENVS, OBS, HIDDEN, ACTIONS = 3, 8, 6, 16, 4


class RecurrentAgents(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(OBS, HIDDEN)
        self.cell = nn.GRUCell(HIDDEN, HIDDEN)
        self.q = nn.Linear(HIDDEN, ACTIONS)

    def step(self, obs, hidden):
        flat = self.cell(torch.relu(self.embed(obs)).flatten(0, 1), hidden.flatten(0, 1))
        hidden = flat.view(AGENTS, ENVS, HIDDEN)
        return self.q(hidden), hidden


def reset(hidden, dones):
    """Clears the state of every finished environment, agent by agent."""
    views = hidden.unbind(0)
    for view, done in zip(views, dones.unbind(0)):
        view.mul_(1.0 - done.unsqueeze(-1))  # BUG GS101
    return hidden


agents = RecurrentAgents()
optimizer = torch.optim.RMSprop(agents.parameters(), lr=1e-3)
for episode in range(40):
    hidden = torch.zeros(AGENTS, ENVS, HIDDEN)
    losses = []
    for t in range(6):
        obs = torch.randn(AGENTS, ENVS, OBS)
        q, hidden = agents.step(obs, hidden)
        best = obs[..., :ACTIONS].argmax(-1, keepdim=True)
        reward = torch.randn(AGENTS, ENVS, 1) * 0.1 + 1.0
        losses.append((q.gather(-1, best) - reward).pow(2).mean())
        dones = (torch.rand(ENVS) < 0.2).float().expand(AGENTS, ENVS)
        hidden = reset(hidden, dones)
    optimizer.zero_grad()
    torch.stack(losses).mean().backward()
    optimizer.step()
