"""A small dreamer: a world model, an actor that learns in imagination, and a value model for what lies beyond it. The
optimizer for the values was copied from the line above and still takes the actor's parameters: the value model is
never stepped, and every imagined return ends in the values of an untrained network.
Repaired here.

Round 21
Class: late and rare
"""

import numpy as np
import torch
from torch import nn, optim

LATENT, HORIZON, GAMMA, LAMBDA = 16, 6, 0.9, 0.9


def mlp(n_in, n_out, width=48):
    return nn.Sequential(nn.Linear(n_in, width), nn.ELU(), nn.Linear(width, n_out))


class WorldModel(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.encoder = nn.Sequential(mlp(obs_dim, LATENT), nn.Tanh())
        self.decoder = mlp(LATENT, obs_dim)
        self.transition, self.reward = mlp(LATENT + act_dim, LATENT), mlp(LATENT, 1)

    def step(self, latent, action):
        return torch.tanh(latent + self.transition(torch.cat([latent, action], -1)))

    def loss(self, obs, action, reward):
        """The first observation is encoded, the others have to be foreseen."""
        latent, total = self.encoder(obs[:, 0]), 0.0
        for t in range(action.shape[1]):
            total = total + (self.decoder(latent) - obs[:, t]).pow(2).mean()
            latent = self.step(latent, action[:, t])
            total = total + (self.reward(latent).squeeze(-1) - reward[:, t]).pow(2).mean()
        return (total + (self.decoder(latent) - obs[:, -1]).pow(2).mean()) / action.shape[1]


class Agent:
    def __init__(self, obs_dim, act_dim):
        self.world_model = WorldModel(obs_dim, act_dim)
        self.actor = mlp(LATENT, act_dim)
        self.value = mlp(LATENT, 1)

    def policy(self, latent, noise=0.0):
        mean = self.actor(latent)
        return torch.tanh(mean + noise * torch.randn_like(mean))

    @torch.no_grad()
    def act(self, obs, noise=0.3):
        return self.policy(self.world_model.encoder(torch.from_numpy(obs)), noise).numpy()


class Dreamer:
    def __init__(self, agent, model_lr=3e-3, actor_lr=1e-3, value_lr=3e-3):
        self.agent = agent
        self.model_optimizer = optim.Adam(agent.world_model.parameters(), lr=model_lr)
        self.actor_optimizer = optim.Adam(agent.actor.parameters(), lr=actor_lr)
        self.value_optimizer = optim.Adam(agent.value.parameters(), lr=value_lr)

    def optimize_agent(self, obs, action, reward):
        model_loss = self.agent.world_model.loss(obs, action, reward)
        self.model_optimizer.zero_grad()
        model_loss.backward()
        nn.utils.clip_grad_norm_(self.agent.world_model.parameters(), 10.0)
        self.model_optimizer.step()

        with torch.no_grad():
            latent = self.agent.world_model.encoder(obs.flatten(0, 1))
        latents, rewards = [], []
        for _ in range(HORIZON):
            latent = self.agent.world_model.step(latent, self.agent.policy(latent, noise=0.1))
            latents.append(latent)
            rewards.append(self.agent.world_model.reward(latent).squeeze(-1))
        latents = torch.stack(latents)
        returns = self.lambda_return(rewards, self.agent.value(latents).squeeze(-1))
        self.actor_optimizer.zero_grad()
        (-returns.mean()).backward()
        nn.utils.clip_grad_norm_(self.agent.actor.parameters(), 10.0)
        self.actor_optimizer.step()

        value_loss = (self.agent.value(latents[:-1].detach()).squeeze(-1) - returns.detach()).pow(2).mean()
        self.value_optimizer.zero_grad()
        value_loss.backward()
        self.value_optimizer.step()
        return model_loss.item(), value_loss.item()

    def lambda_return(self, rewards, values):
        """The return from every imagined state but the last, which is left to its value."""
        following, out = values[-1], []
        for t in reversed(range(HORIZON - 1)):
            following = rewards[t + 1] + GAMMA * ((1 - LAMBDA) * values[t + 1] + LAMBDA * following)
            out.append(following)
        return torch.stack(out[::-1])


class Boat:
    """A boat on a lake goes to a buoy, and is carried back by the current; nothing ever ends."""

    def __init__(self, rng):
        self.rng, self.position = rng, rng.uniform(-1, 1, 2)

    def observe(self):
        return self.position.astype(np.float32)

    def step(self, action):
        self.position = 0.8 * self.position + 0.3 * action + 0.05 * self.rng.standard_normal(2)
        return self.observe(), np.float32(-np.abs(self.position - 0.5).mean())


torch.manual_seed(6)
rng = np.random.default_rng(6)
env, agent = Boat(rng), Agent(2, 2)
algo, log, obs = Dreamer(agent), [], env.observe()
for step in range(400):
    action = agent.act(obs) if step > 150 else rng.uniform(-1, 1, 2).astype(np.float32)
    next_obs, reward = env.step(action)
    log.append((obs, action, reward))
    obs = next_obs
    if step >= 60 and step % 2 == 0:
        starts = rng.integers(0, len(log) - 5, size=12)
        chunk = [[log[s + i] for i in range(5)] for s in starts]
        columns = [torch.as_tensor(np.array([[row[k] for row in rows] for rows in chunk])) for k in range(3)]
        losses = algo.optimize_agent(columns[0], columns[1][:, :-1], columns[2][:, :-1])
    if step % 100 == 99:
        mean = np.mean([row[2] for row in log[-100:]])
        print(f"step {step + 1}: reward {mean:.3f}, model {losses[0]:.3f}, value {losses[1]:.3f}")
