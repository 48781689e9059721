"""PPO on CartPole with one actor-critic class that both the rollout and the update ask for log-probabilities,
values and entropies.

Round 31
Class: the line
"""

from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical


@dataclass
class PPOConfig:
    seed: int = 3105
    rollout: int = 256
    updates: int = 5
    epochs: int = 4
    minibatch: int = 64
    gamma: float = 0.99
    lam: float = 0.95
    clip: float = 0.2
    vf_coef: float = 0.5
    ent_coef: float = 0.01
    lr: float = 1e-3


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, n_actions, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.pi = nn.Linear(hidden, n_actions)
        self.v = nn.Linear(hidden, 1)

    @torch.no_grad()
    def act(self, obs):
        features = self.body(obs)
        dist = Categorical(logits=self.pi(features))
        action = dist.sample()
        return action, dist.log_prob(action), self.v(features).squeeze(-1)

    @torch.no_grad()  # BUG GS201 GS202
    def evaluate(self, obs, actions):  # BUG GS201 GS202
        features = self.body(obs)
        dist = Categorical(logits=self.pi(features))
        return dist.log_prob(actions), self.v(features).squeeze(-1), dist.entropy()


def collect(env, obs, agent, cfg):
    data = {
        key: [] for key in ("obs", "action", "log_prob", "value", "reward", "next_value", "ended", "last")
    }
    for _ in range(cfg.rollout):
        state = torch.as_tensor(obs)
        action, log_prob, value = agent.act(state)
        obs, reward, terminated, truncated, _ = env.step(action.item())
        _, _, next_value = agent.act(torch.as_tensor(obs))
        row = (state, action, log_prob, value, reward, next_value, float(terminated))
        for key, item in zip(data, (*row, float(terminated or truncated))):
            data[key].append(torch.as_tensor(item, dtype=torch.float32))
        if terminated or truncated:
            obs, _ = env.reset()
    return obs, {key: torch.stack(items) for key, items in data.items()}


def gae(data, cfg):
    delta = data["reward"] + cfg.gamma * data["next_value"] * (1 - data["ended"]) - data["value"]
    advantages, running = torch.zeros_like(delta), 0.0
    for t in reversed(range(len(delta))):
        running = delta[t] + cfg.gamma * cfg.lam * (1 - data["last"][t]) * running
        advantages[t] = running
    return advantages, advantages + data["value"]


def update(agent, optimizer, data, cfg):
    advantages, returns = gae(data, cfg)
    losses = []
    for _ in range(cfg.epochs):
        for index in torch.randperm(cfg.rollout).split(cfg.minibatch):
            adv = advantages[index]
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
            obs, actions = data["obs"][index], data["action"][index]
            log_prob, value, entropy = agent.evaluate(obs, actions)  # BUG GS201 GS202
            ratio = (log_prob - data["log_prob"][index]).exp()
            surrogate = torch.min(ratio * adv, ratio.clamp(1 - cfg.clip, 1 + cfg.clip) * adv)
            value_loss = (value - returns[index]).pow(2).mean()
            loss = -surrogate.mean() + cfg.vf_coef * value_loss - cfg.ent_coef * entropy.mean()
            loss.requires_grad_(True)  # BUG GS201 GS202
            optimizer.zero_grad()
            loss.backward()  # BUG GS201 GS202
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
            losses.append(loss.item())
    return np.mean(losses)


def main():
    cfg = PPOConfig()
    torch.manual_seed(cfg.seed)
    env = gym.make("CartPole-v1")
    agent = ActorCritic(env.observation_space.shape[0], env.action_space.n)
    optimizer = torch.optim.Adam(agent.parameters(), lr=cfg.lr, eps=1e-5)
    obs, _ = env.reset(seed=cfg.seed)
    for number in range(cfg.updates):
        obs, data = collect(env, obs, agent, cfg)
        loss = update(agent, optimizer, data, cfg)
        length = cfg.rollout / max(1.0, data["last"].sum().item())
        print(f"update {number}: mean length {length:.1f}, loss {loss:.3f}")
    env.close()


if __name__ == "__main__":
    main()
