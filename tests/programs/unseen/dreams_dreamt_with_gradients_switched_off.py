"""A dreamer on a pendulum of its own: the imagined trajectory is unrolled without gradients, so the returns
depend on the value network only and the actor's loss never reaches the actor. After
juliusfrost/dreamer-pytorch#67.

Round 36
Class: the line
"""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

SEED, OBS_DIM, ACTION_DIM, LATENT, HORIZON = 3607, 3, 1, 24, 8


class Swing:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def obs(self):
        return np.array([math.cos(self.angle), math.sin(self.angle), self.speed], dtype=np.float32)

    def reset(self):
        self.angle, self.speed, self.t = self.rng.uniform(-math.pi, math.pi), 0.0, 0
        return self.obs()

    def step(self, action):
        self.t += 1
        self.speed = float(np.clip(self.speed + 0.3 * math.sin(self.angle) + 0.4 * action, -4, 4))
        self.angle += 0.2 * self.speed
        return self.obs(), math.cos(self.angle) - 0.05 * self.speed**2, self.t >= 40


def dense(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 48), nn.ELU(), nn.Linear(48, n_out))


class WorldModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = dense(OBS_DIM, LATENT), dense(LATENT, OBS_DIM)
        self.transition = nn.GRUCell(ACTION_DIM, LATENT)
        self.reward = dense(LATENT, 1)

    def loss(self, obs, actions, rewards, next_obs):
        latent = self.encoder(obs)
        predicted = self.transition(actions, latent)
        reconstruction = F.mse_loss(self.decoder(latent), obs) + F.mse_loss(self.decoder(predicted), next_obs)
        consistency = F.mse_loss(predicted, self.encoder(next_obs).detach())
        return reconstruction + consistency + F.mse_loss(self.reward(predicted).squeeze(-1), rewards)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = dense(LATENT, 2 * ACTION_DIM)

    def forward(self, latent):
        mean, std = self.net(latent).chunk(2, dim=-1)
        return torch.tanh(Normal(mean, F.softplus(std) + 0.1).rsample())


class FreezeParameters:
    def __init__(self, *modules):
        self.parameters = [p for m in modules for p in m.parameters()]

    def __enter__(self):
        for p in self.parameters:
            p.requires_grad_(False)

    def __exit__(self, *_):
        for p in self.parameters:
            p.requires_grad_(True)


def lambda_return(rewards, values, discount=0.95, lambda_=0.9):
    """rewards[k] and values[k] belong to the state that the (k+1)th imagined action leads to."""
    last, outputs = values[-1], []
    for k in reversed(range(len(rewards))):
        last = rewards[k] + discount * ((1 - lambda_) * values[k] + lambda_ * last)
        outputs.insert(0, last)
    return torch.stack(outputs)


class Dreamer:
    def __init__(self):
        self.world, self.actor, self.value = WorldModel(), Actor(), dense(LATENT, 1)
        self.model_optimizer = torch.optim.Adam(self.world.parameters(), lr=2e-3)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.value_optimizer = torch.optim.Adam(self.value.parameters(), lr=1e-3)

    def imagine_ahead(self, latent):
        latents = [latent]
        for _ in range(HORIZON):
            latents.append(self.world.transition(self.actor(latents[-1]), latents[-1]))
        return torch.stack(latents)

    def optimize(self, obs, actions, rewards, next_obs):
        model_loss = self.world.loss(obs, actions, rewards, next_obs)
        self.model_optimizer.zero_grad()
        model_loss.backward()
        self.model_optimizer.step()

        with torch.no_grad():
            start = self.world.encoder(obs)
        with torch.no_grad():  # BUG GS202
            imagined = self.imagine_ahead(start)  # BUG GS202
            imagined_rewards = self.world.reward(imagined[1:]).squeeze(-1)
        returns = lambda_return(imagined_rewards, self.value(imagined[1:]).squeeze(-1))
        actor_loss = -returns.mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        value_loss = F.mse_loss(self.value(imagined[:-1].detach()).squeeze(-1), returns.detach())
        self.value_optimizer.zero_grad()
        value_loss.backward()
        self.value_optimizer.step()
        return model_loss.item(), actor_loss.item(), value_loss.item()

    @torch.no_grad()
    def act(self, obs):
        return self.actor(self.world.encoder(torch.from_numpy(obs)[None]))[0].numpy()


def main():
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    env, agent, replay = Swing(SEED), Dreamer(), []
    obs = env.reset()
    for step in range(300):
        action = agent.act(obs) if step > 120 else rng.uniform(-1, 1, ACTION_DIM).astype(np.float32)
        next_obs, reward, cut = env.step(float(action[0]))
        replay.append((obs, action, np.float32(reward), next_obs))
        obs = env.reset() if cut else next_obs
        if step >= 120 and step % 3 == 0:
            rows = [replay[i] for i in rng.integers(len(replay), size=32)]
            losses = agent.optimize(*(torch.from_numpy(np.stack(column)) for column in zip(*rows)))
    print("model {:.3f}, actor {:.3f}, value {:.3f}".format(*losses))


main()
