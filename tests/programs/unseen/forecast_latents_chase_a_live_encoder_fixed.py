"""A latent model forecasts the next latents, and the encoder that makes them is trained to be forecast: the target of
Repaired here.
the consistency loss is alive, so the encoder is rewarded for saying little.

Round 14
Class: the line
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

OBS, ACT, LATENT, HORIZON, BATCH = 8, 2, 10, 4, 18


def net(*sizes):
    layers = []
    for i in range(len(sizes) - 1):
        layers += [nn.Linear(sizes[i], sizes[i + 1]), nn.ELU()]
    return nn.Sequential(*layers[:-1])


class LatentPredictor(nn.Module):
    """Unrolls the latents of a sequence and compares them with those that the encoder gives."""

    def __init__(self):
        super().__init__()
        self.dynamics = net(LATENT + ACT, 32, LATENT)

    def forward(self, first, actions, targets):
        latent, rolled = first, []
        for action in actions:
            latent = self.dynamics(torch.cat([latent, action], dim=-1))
            rolled.append(latent)
        rolled = torch.stack(rolled)
        loss = F.smooth_l1_loss(rolled, targets.detach(), reduction="none")
        return rolled, loss.sum(-1).mean()


class Agent(nn.Module):
    consistency, gamma = 2.0, 0.9

    def __init__(self):
        super().__init__()
        self.encoder, self.predictor = net(OBS, 32, LATENT), LatentPredictor()
        self.reward, self.q = net(LATENT + ACT, 32, 1), net(LATENT + ACT, 32, 1)
        self.pi = nn.Sequential(net(LATENT, 32, ACT), nn.Tanh())

    def model_parameters(self):
        return [p for m in (self.encoder, self.predictor, self.reward, self.q) for p in m.parameters()]


class Learner:
    def __init__(self):
        self.agent = Agent()
        self.target_q = copy.deepcopy(self.agent.q).requires_grad_(False)
        self.optim = torch.optim.Adam(self.agent.model_parameters(), lr=1e-3)
        self.pi_optim = torch.optim.Adam(self.agent.pi.parameters(), lr=1e-3)

    @torch.no_grad()
    def td_target(self, obs, reward):
        latent = self.agent.encoder(obs)
        return reward + self.agent.gamma * self.target_q(
            torch.cat([latent, self.agent.pi(latent)], -1)
        ).squeeze(-1)

    def update(self, obs, actions, rewards):
        agent = self.agent
        latents = agent.encoder(obs)
        rolled, consistency_loss = agent.predictor(latents[0], actions, latents[1:])
        starts = torch.cat([latents[:1], rolled[:-1]])
        joined = torch.cat([starts, actions], dim=-1)
        reward_loss = F.mse_loss(agent.reward(joined).squeeze(-1), rewards)
        value_loss = F.mse_loss(agent.q(joined).squeeze(-1), self.td_target(obs[1:], rewards))
        self.optim.zero_grad()
        (agent.consistency * consistency_loss + reward_loss + 0.5 * value_loss).backward()
        nn.utils.clip_grad_norm_(agent.model_parameters(), 10.0)
        self.optim.step()
        self.update_pi(starts.detach())
        with torch.no_grad():
            for slow, fast in zip(self.target_q.parameters(), agent.q.parameters(), strict=True):
                slow.lerp_(fast, 0.02)
        return consistency_loss.item(), reward_loss.item(), value_loss.item()

    def update_pi(self, latents):
        self.agent.q.requires_grad_(False)
        loss = -self.agent.q(torch.cat([latents, self.agent.pi(latents)], dim=-1)).mean()
        self.pi_optim.zero_grad()
        loss.backward()
        self.pi_optim.step()
        self.agent.q.requires_grad_(True)


def sequences():
    obs, actions, rewards = [torch.randn(BATCH, OBS)], torch.rand(HORIZON, BATCH, ACT) * 2 - 1, []
    for action in actions:
        rewards.append(-(obs[-1][:, :ACT] + action).pow(2).sum(-1))
        obs.append(0.8 * obs[-1] + 0.5 * F.pad(action, (0, OBS - ACT)) + 0.1 * torch.randn(BATCH, OBS))
    return torch.stack(obs), actions, torch.stack(rewards)


torch.manual_seed(1418)
learner = Learner()
for update in range(60):
    losses = learner.update(*sequences())
print([round(loss, 3) for loss in losses])
