"""A world model predicts one, two and three steps ahead. One mask says which predictions do not cross the end of an
episode; for every further depth more of it is zeroed where it lies, while the product of the depth before still needs it.

Round 17
Class: forward errors
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1711)
BATCH, TIME, OBS, ACT, LATENT, DEPTHS = 12, 10, 6, 2, 16, 3


class Replay:
    """Chunks of episodes laid end to end; `first` marks where a new episode begins."""

    def sample(self):
        action = torch.randn(BATCH, TIME, ACT).tanh()
        first = torch.rand(BATCH, TIME) < 0.12
        obs, rows = torch.randn(BATCH, OBS), []
        for t in range(TIME):
            obs = torch.where(first[:, t, None], torch.randn(BATCH, OBS), obs)
            rows.append(obs)
            obs = 0.8 * obs + 0.3 * F.pad(action[:, t], (0, OBS - ACT)) + 0.05 * torch.randn(BATCH, OBS)
        obs = torch.stack(rows, 1)
        return obs, action, obs[..., 0].tanh() - 0.1 * action.square().sum(-1), first


class WorldModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(OBS, 32), nn.ELU(), nn.Linear(32, LATENT))
        self.dynamics = nn.GRUCell(ACT, LATENT)
        self.decoder = nn.Sequential(nn.Linear(LATENT, 32), nn.ELU(), nn.Linear(32, OBS))
        self.reward = nn.Linear(LATENT, 1)

    def advance(self, latent, action):
        flat = self.dynamics(action.flatten(0, 1), latent.flatten(0, 1))
        return flat.view(*latent.shape)


def shifted(x, steps=1):
    """What comes `steps` later in the chunk; nothing comes after its end."""
    return F.pad(x[:, steps:].transpose(1, -1), (0, steps)).transpose(1, -1)


def model_loss(model, obs, action, reward, first):
    latent = model.encoder(obs)
    losses = {"now": F.mse_loss(model.decoder(latent), obs)}
    losses["reward"] = F.mse_loss(model.reward(latent).squeeze(-1), reward)
    valid = torch.ones(BATCH, TIME)
    for depth in range(1, DEPTHS + 1):
        latent = model.advance(latent, shifted(action, depth - 1))
        crossed = shifted(first.float().unsqueeze(-1), depth).squeeze(-1).bool()
        valid[crossed] = 0.0  # BUG GS101
        valid[:, TIME - depth :] = 0.0  # BUG GS101
        error = (model.decoder(latent) - shifted(obs, depth)).square().mean(-1)
        losses[f"ahead {depth}"] = (valid * error).sum() / valid.sum().clamp(min=1.0)  # BUG GS101
    return losses


def plan(model, obs, candidates=16, horizon=3):
    """The best first action of some random sequences, by the model's own rewards."""
    with torch.no_grad():
        latent = model.encoder(obs).expand(1, candidates, -1)
        actions, total = torch.randn(horizon, 1, candidates, ACT).tanh(), 0.0
        for action in actions:
            latent = model.advance(latent, action)
            total = total + model.reward(latent).squeeze(-1)
        return actions[0, 0, total.argmax()]


model, replay = WorldModel(), Replay()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for update in range(50):
    losses = model_loss(model, *replay.sample())
    loss = sum(losses.values())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 10.0)
    optimizer.step()
    if update % 25 == 24:
        report = ", ".join(f"{name} {value.item():.3f}" for name, value in losses.items())
        print(f"{update + 1}: {report}; plan {plan(model, torch.randn(OBS)).tolist()}")
