"""Proximal policy optimisation on four CartPoles with a rollout buffer that works out generalised advantages.

Round 31
Class: meaning
"""

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical


class Carts:
    """Several environments stepped one after the other; an episode that ends is begun anew at once."""

    def __init__(self, n_envs, seed):
        self.envs = [gym.make("CartPole-v1") for _ in range(n_envs)]
        self.seed = seed

    def reset(self):
        return np.stack([env.reset(seed=self.seed + i)[0] for i, env in enumerate(self.envs)])

    def step(self, actions):
        observations, rewards, dones, infos = [], [], [], []
        for env, action in zip(self.envs, actions):
            obs, reward, terminated, truncated, info = env.step(int(action))
            if terminated or truncated:
                info = {"terminal_observation": obs, "TimeLimit.truncated": truncated and not terminated}
                obs, _ = env.reset()
            observations.append(obs)
            rewards.append(reward)
            dones.append(terminated or truncated)
            infos.append(info)
        return np.stack(observations), np.array(rewards, dtype=np.float32), np.array(dones), infos


class RolloutBuffer:
    def __init__(self, n_steps, n_envs, obs_dim, gamma=0.98, gae_lambda=0.9):
        self.n_steps, self.gamma, self.gae_lambda = n_steps, gamma, gae_lambda
        self.obs = np.zeros((n_steps, n_envs, obs_dim), dtype=np.float32)
        self.actions = np.zeros((n_steps, n_envs), dtype=np.int64)
        self.rewards, self.dones, self.values, self.log_probs, self.advantages = (
            np.zeros((n_steps, n_envs), dtype=np.float32) for _ in range(5)
        )
        self.pos = 0

    def add(self, obs, actions, rewards, dones, values, log_probs):
        self.obs[self.pos], self.actions[self.pos], self.rewards[self.pos] = obs, actions, rewards
        self.dones[self.pos], self.values[self.pos], self.log_probs[self.pos] = dones, values, log_probs
        self.pos = (self.pos + 1) % self.n_steps

    def compute_returns_and_advantage(self, last_values, last_dones):
        last_gae = 0.0
        for step in reversed(range(self.n_steps)):
            if step == self.n_steps - 1:
                next_non_terminal, next_values = 1.0 - last_dones, last_values
            else:
                next_non_terminal = 1.0 - self.dones[step + 1]
                next_values = self.values[step + 1]
            target = self.rewards[step] + self.gamma * next_values * next_non_terminal
            delta = target - self.values[step]
            last_gae = delta + self.gamma * self.gae_lambda * next_non_terminal * last_gae
            self.advantages[step] = last_gae
        self.returns = self.advantages + self.values

    def minibatches(self, size):
        parts = (self.obs, self.actions, self.log_probs, self.advantages, self.returns)
        flat = [torch.from_numpy(part.reshape(-1, *part.shape[2:])) for part in parts]
        for index in torch.randperm(len(flat[0])).split(size):
            yield [part[index] for part in flat]


class PPO:
    def __init__(self, env, n_envs, n_steps=32):
        self.env, self.n_steps = env, n_steps
        self.actor = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
        self.critic = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 1))
        self.params = [*self.actor.parameters(), *self.critic.parameters()]
        self.optimizer = torch.optim.Adam(self.params, lr=1e-3)
        self.buffer = RolloutBuffer(n_steps, n_envs, 4)
        self.last_obs, self.last_dones = env.reset(), np.zeros(n_envs, dtype=bool)

    def values(self, obs):
        return self.critic(torch.as_tensor(obs)).squeeze(-1)

    @torch.no_grad()
    def collect_rollouts(self):
        for _ in range(self.n_steps):
            dist = Categorical(logits=self.actor(torch.from_numpy(self.last_obs)))
            actions = dist.sample()
            values, log_probs = self.values(self.last_obs), dist.log_prob(actions)
            new_obs, rewards, dones, infos = self.env.step(actions.numpy())
            for i, info in enumerate(infos):
                if info.get("TimeLimit.truncated", False):
                    rewards[i] += self.buffer.gamma * self.values(info["terminal_observation"]).item()
            self.buffer.add(self.last_obs, actions, rewards, self.last_dones, values, log_probs)
            self.last_obs, self.last_dones = new_obs, dones
        self.buffer.compute_returns_and_advantage(self.values(self.last_obs).numpy(), self.last_dones)

    def train(self, n_epochs=4, batch_size=64, clip_range=0.2, ent_coef=0.005):
        for _ in range(n_epochs):
            for obs, actions, old_log_probs, advantages, returns in self.buffer.minibatches(batch_size):
                dist = Categorical(logits=self.actor(obs))
                advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
                ratio = torch.exp(dist.log_prob(actions) - old_log_probs)
                clipped = ratio.clamp(1 - clip_range, 1 + clip_range)
                policy_loss = -torch.min(ratio * advantages, clipped * advantages).mean()
                value_loss = F.mse_loss(self.values(obs), returns)
                loss = policy_loss + 0.5 * value_loss - ent_coef * dist.entropy().mean()
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.params, 0.5)
                self.optimizer.step()


def main():
    torch.manual_seed(3104)
    agent = PPO(Carts(4, seed=3104), n_envs=4)
    for iteration in range(24):
        agent.collect_rollouts()
        agent.train()
        if iteration % 6 == 0:
            print(f"iteration {iteration}: {int(agent.buffer.dones.sum())} episodes ended")


if __name__ == "__main__":
    main()
