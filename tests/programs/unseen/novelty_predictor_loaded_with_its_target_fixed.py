"""A run is cut in two: the second half receives the networks of the first as a list of states, each in its place.

Round 16
Class: late and rare
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1605)
rng = np.random.default_rng(1605)


@dataclass
class Config:
    obs: int = 5
    actions: int = 3
    envs: int = 6
    steps: int = 16
    epochs: int = 2
    gamma: float = 0.95
    clip: float = 0.2
    bonus: float = 0.3


def mlp(inputs, outputs, width=32):
    return nn.Sequential(nn.Linear(inputs, width), nn.ELU(), nn.Linear(width, outputs))


class RandomNetworkDistillation(nn.Module):
    def __init__(self, obs, embedding=8):
        super().__init__()
        self.predictor = mlp(obs, embedding)
        self.target = mlp(obs, embedding).requires_grad_(False)

    def forward(self, obs):
        with torch.no_grad():
            goal = self.target(obs)
        return (self.predictor(obs) - goal).pow(2).mean(-1)


class PPO:
    def __init__(self, cfg):
        self.cfg = cfg
        self.actor, self.critic = mlp(cfg.obs, cfg.actions), mlp(cfg.obs, 1)
        self.rnd = RandomNetworkDistillation(cfg.obs)
        self.optimizer = torch.optim.Adam([*self.actor.parameters(), *self.critic.parameters()], lr=2e-3)
        self.rnd_optimizer = torch.optim.Adam(self.rnd.predictor.parameters(), lr=1e-3)

    def networks(self):
        return [self.actor, self.critic, self.rnd.target, self.rnd.predictor]

    def receive(self, states):
        """Goes on from the weights of another run."""
        self.actor.load_state_dict(states[0])
        self.critic.load_state_dict(states[1])
        self.rnd.target.load_state_dict(states[2])
        self.rnd.predictor.load_state_dict(states[3])

    def act(self, obs):
        with torch.no_grad():
            dist = Categorical(logits=self.actor(obs))
            action = dist.sample()
            bonus = self.cfg.bonus * self.rnd(obs)
            return action, dist.log_prob(action), self.critic(obs).squeeze(-1), bonus

    def returns(self, rewards, dones, last):
        out = torch.zeros_like(rewards)
        for t in reversed(range(len(rewards))):
            last = rewards[t] + self.cfg.gamma * (1 - dones[t]) * last
            out[t] = last
        return out

    def update(self, obs, action, old, gain, returns):
        for _ in range(self.cfg.epochs):
            dist = Categorical(logits=self.actor(obs))
            ratio = (dist.log_prob(action) - old).exp()
            limited = ratio.clamp(1 - self.cfg.clip, 1 + self.cfg.clip)
            value_loss = (self.critic(obs).squeeze(-1) - returns).pow(2).mean()
            loss = -torch.min(ratio * gain, limited * gain).mean() + 0.5 * value_loss
            self.optimizer.zero_grad()
            (loss - 0.01 * dist.entropy().mean()).backward()
            self.optimizer.step()

            novelty = self.rnd(obs).mean()
            self.rnd_optimizer.zero_grad()
            novelty.backward()
            self.rnd_optimizer.step()
        return value_loss.item(), novelty.item()


class Rooms:
    """Copies of a small system that is pushed about; one that goes too far starts again."""

    def __init__(self, cfg):
        self.state = rng.normal(size=(cfg.envs, cfg.obs)).astype(np.float32)
        self.push = rng.normal(size=(cfg.actions, cfg.obs)).astype(np.float32)

    def step(self, action):
        self.state = 0.8 * self.state + 0.4 * self.push[action]
        reward, done = 0.1 * self.state[:, 0], np.abs(self.state).max(1) > 2.5
        self.state[done] = rng.normal(size=(done.sum(), self.state.shape[1]))
        return torch.from_numpy(reward), torch.from_numpy(done.astype(np.float32))


def iterate(agent, env, cfg):
    rollout = []
    for _ in range(cfg.steps):
        obs = torch.from_numpy(env.state.copy())
        action, score, value, bonus = agent.act(obs)
        reward, done = env.step(action.numpy())
        rollout.append((obs, action, score, value, reward + bonus, done))
    obs, action, score, value, reward, done = (torch.stack(column) for column in zip(*rollout))
    with torch.no_grad():
        last = agent.critic(torch.from_numpy(env.state)).squeeze(-1)
    returns = agent.returns(reward, done, last)
    gain = returns - value
    gain = (gain - gain.mean()) / (gain.std() + 1e-8)
    return agent.update(*(x.flatten(0, 1) for x in (obs, action, score, gain, returns)))


cfg = Config()
env, states = Rooms(cfg), None
for half in range(2):
    agent = PPO(cfg)
    if states is not None:
        agent.receive(states)
    for iteration in range(20):
        stats = iterate(agent, env, cfg)
    print(half, stats)
    states = [net.state_dict() for net in agent.networks()]
