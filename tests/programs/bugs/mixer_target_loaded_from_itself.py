"""VDN with a hypernetwork: the target mixer loads its own state dict."""

import torch
from torch import nn

torch.manual_seed(0)


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.Linear(6, 3)

    def forward(self, qs, state):
        return (qs * self.weights(state).abs()).sum(-1)


agents, target_agents = nn.Linear(4, 2), nn.Linear(4, 2)
mixer, target_mixer = Mixer(), Mixer()
target_agents.load_state_dict(agents.state_dict())
target_mixer.load_state_dict(mixer.state_dict())
optimizer = torch.optim.RMSprop([*agents.parameters(), *mixer.parameters()], lr=5e-4)


def sync():
    target_agents.load_state_dict(agents.state_dict())
    target_mixer.load_state_dict(target_mixer.state_dict())  # BUG GS809


for step in range(1, 41):
    obs, state, action = torch.randn(8, 3, 4), torch.randn(8, 6), torch.randint(2, (8, 3, 1))
    with torch.no_grad():
        best = target_agents(torch.randn(8, 3, 4)).amax(-1)
        wanted = torch.randn(8) + 0.99 * target_mixer(best, torch.randn(8, 6))
    chosen = agents(obs).gather(-1, action).squeeze(-1)
    loss = (mixer(chosen, state) - wanted).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        sync()
