"""An actor is trained through the imagination of a world model, and while training its agent draws actions with sample:
Repaired here.
of the imagined returns nothing reaches the actor but what its entropy says.

Round 14
Class: zero in part
"""

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal

OBS, ACT, LATENT, HORIZON, BATCH = 4, 2, 12, 6, 20


def mlp(*sizes):
    layers = [m for a, b in pairwise(sizes) for m in (nn.Linear(a, b), nn.ELU())]
    return nn.Sequential(*layers[:-1])


class ActionDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(LATENT, 32, 2 * ACT)

    def forward(self, features):
        mean, raw = self.net(features).chunk(2, dim=-1)
        return Normal(torch.tanh(mean), F.softplus(raw) + 0.1)


class DreamerModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = mlp(OBS, 32, LATENT), mlp(LATENT, 32, OBS)
        self.transition, self.reward = mlp(LATENT + ACT, 32, LATENT), mlp(LATENT, 32, 1)
        self.action_decoder, self.value = ActionDecoder(), mlp(LATENT, 32, 1)

    def policy(self, latent):
        dist = self.action_decoder(latent)
        if not self.training:
            return dist.mean, dist
        return dist.rsample(), dist

    def imagine(self, latent):
        latents, entropies = [], []
        for _ in range(HORIZON):
            action, dist = self.policy(latent)
            latent = self.transition(torch.cat([latent, action], dim=-1))
            latents.append(latent)
            entropies.append(dist.entropy().sum(-1))
        return torch.stack(latents), torch.stack(entropies)

    def world_parameters(self):
        return [p for m in (self.encoder, self.decoder, self.transition, self.reward) for p in m.parameters()]


class Dreamer:
    discount, lam, entropy_scale = 0.9, 0.9, 1e-3

    def __init__(self):
        self.model = DreamerModel()
        self.model_optimizer = torch.optim.Adam(self.model.world_parameters(), lr=2e-3)
        self.actor_optimizer = torch.optim.Adam(self.model.action_decoder.parameters(), lr=1e-3)
        self.value_optimizer = torch.optim.Adam(self.model.value.parameters(), lr=2e-3)

    def model_loss(self, obs, action, reward, following):
        latent = self.model.encoder(obs)
        forecast = self.model.transition(torch.cat([latent, action], dim=-1))
        reconstruction = F.mse_loss(self.model.decoder(latent), obs) + F.mse_loss(
            self.model.decoder(forecast), following
        )
        return reconstruction + F.mse_loss(self.model.reward(forecast).squeeze(-1), reward), latent

    def returns(self, latents):
        rewards, values = self.model.reward(latents).squeeze(-1), self.model.value(latents).squeeze(-1)
        running, out = values[-1], []
        for t in reversed(range(HORIZON - 1)):
            running = rewards[t] + self.discount * ((1 - self.lam) * values[t + 1] + self.lam * running)
            out.append(running)
        return torch.stack(out[::-1])

    def optimize(self, batch):
        model_loss, latent = self.model_loss(*batch)
        self.model_optimizer.zero_grad()
        model_loss.backward()
        nn.utils.clip_grad_norm_(self.model.world_parameters(), 100.0)
        self.model_optimizer.step()

        imagined, entropies = self.model.imagine(latent.detach())
        returns = self.returns(imagined)
        actor_loss = -returns.mean() - self.entropy_scale * entropies.mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        value_loss = F.mse_loss(self.model.value(imagined[:-1].detach()).squeeze(-1), returns.detach())
        self.value_optimizer.zero_grad()
        value_loss.backward()
        self.value_optimizer.step()
        return model_loss.item(), actor_loss.item(), value_loss.item()


def play(model, steps=BATCH):
    """Random starts of a point that should come to rest in the middle."""
    obs = torch.randn(steps, OBS)
    with torch.no_grad():
        action, _ = model.policy(model.encoder(obs))
    action = (action + 0.3 * torch.randn_like(action)).clamp(-1, 1)
    following = torch.cat([obs[:, :2] + 0.3 * obs[:, 2:], 0.8 * obs[:, 2:] + 0.5 * action], dim=1)
    return obs, action, -following[:, :2].pow(2).sum(-1), following


torch.manual_seed(1411)
agent = Dreamer()
for update in range(60):
    losses = agent.optimize(play(agent.model))
    if update % 20 == 0:
        print(update, *(round(loss, 3) for loss in losses))
