"""PPO for a boiler whose readings have wild units. Raw readings are stored and scaled by running
statistics, and the statistics take in the new rollout before the first epoch, so the first ratios compare
two scales.

Round 32
Class: meaning
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


class Boiler:
    """Pressure in pascal, heat in degrees; it bursts or goes out, and a shift has thirty-two turns."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.pressure, self.heat, self.turn = self.rng.uniform(0.3, 0.7), self.rng.uniform(0.2, 0.5), 0
        return self.read()

    def read(self):
        return torch.tensor([1e3 * self.pressure, 100 + 50 * self.heat, self.turn], dtype=torch.float32)

    def step(self, valve):
        self.heat = np.clip(self.heat + 0.1 * (valve - 1), 0, 1)
        self.pressure += 0.1 * (self.heat - 0.4) + self.rng.normal(0, 0.01)
        self.turn += 1
        burst = self.pressure > 1.0 or self.pressure < 0.0
        reward = -1.0 if burst else 0.1 - 0.2 * abs(self.pressure - 0.6)
        return self.read(), float(reward), bool(burst or self.turn == 32)


class Normalizer:
    def __init__(self, size):
        self.mean, self.var, self.count = torch.zeros(size), torch.ones(size), 1.0

    @torch.no_grad()
    def update(self, x):
        n, delta = len(x), x.mean(0) - self.mean
        total = self.count + n
        spread = self.var * self.count + x.var(0, unbiased=False) * n
        self.var = (spread + delta.pow(2) * self.count * n / total) / total
        self.mean = self.mean + delta * n / total
        self.count = total

    def __call__(self, x):
        return ((x - self.mean) / (self.var + 1e-8).sqrt()).clamp(-5, 5)


class PPOAgent:
    def __init__(self, epochs=4, gamma=0.95, lam=0.9, clip=0.2, lr=2e-3):
        self.actor = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 3))
        self.critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
        self.parameters = [*self.actor.parameters(), *self.critic.parameters()]
        self.optimizer = torch.optim.Adam(self.parameters, lr=lr)
        self.normalizer = Normalizer(3)
        self.epochs, self.gamma, self.lam, self.clip = epochs, gamma, lam, clip

    def evaluate(self, obs):
        obs = self.normalizer(obs)
        return Categorical(logits=self.actor(obs)), self.critic(obs).squeeze(-1)

    @torch.no_grad()
    def act(self, obs):
        dist, value = self.evaluate(obs)
        action = dist.sample()
        return action, dist.log_prob(action), value  # BUG GS803

    def advantages(self, rewards, values, dones, last_value):
        gae, out = torch.zeros(()), []
        next_value = last_value
        for t in reversed(range(len(rewards))):
            delta = rewards[t] + self.gamma * next_value * (1 - dones[t]) - values[t]
            gae = delta + self.gamma * self.lam * (1 - dones[t]) * gae
            next_value = values[t]
            out.append(gae)
        return torch.stack(out[::-1])

    def learn(self, rollout, last_obs):
        obs, actions, old_log_probs, values = (torch.stack(c) for c in list(zip(*rollout))[:4])
        rewards, dones = (torch.tensor(c) for c in list(zip(*rollout))[4:])
        with torch.no_grad():
            last_value = self.evaluate(last_obs)[1]
            adv = self.advantages(rewards, values, dones, last_value)
        returns = adv + values
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        self.normalizer.update(obs)  # BUG GS803
        for _ in range(self.epochs):
            dist, value = self.evaluate(obs)  # BUG GS803
            ratio = torch.exp(dist.log_prob(actions) - old_log_probs)  # BUG GS803
            surrogate = torch.min(ratio * adv, ratio.clamp(1 - self.clip, 1 + self.clip) * adv).mean()
            value_loss = (value - returns).pow(2).mean()
            loss = -surrogate + 0.5 * value_loss - 0.01 * dist.entropy().mean()
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.parameters, 0.5)
            self.optimizer.step()
        return value_loss.item()


def warm_up(env, steps):
    """Readings of a boiler whose valve is turned at random."""
    obs, seen = env.reset(), []
    for _ in range(steps):
        seen.append(obs)
        obs, _, done = env.step(env.rng.integers(3))
        obs = env.reset() if done else obs
    return torch.stack(seen)


def main(iterations=20, horizon=128):
    torch.manual_seed(27)
    env, agent = Boiler(27), PPOAgent()
    agent.normalizer.update(warm_up(env, 64))
    obs = env.reset()
    for iteration in range(iterations):
        rollout = []
        for _ in range(horizon):
            action, log_prob, value = agent.act(obs)
            next_obs, reward, done = env.step(action.item())
            rollout.append((obs, action, log_prob, value, reward, float(done)))
            obs = env.reset() if done else next_obs
        value_loss = agent.learn(rollout, obs)
        if iteration % 5 == 4:
            mean = np.mean([row[4] for row in rollout])
            print(f"iteration {iteration + 1}: reward {mean:.4f} value loss {value_loss:.4f}")


if __name__ == "__main__":
    main()
