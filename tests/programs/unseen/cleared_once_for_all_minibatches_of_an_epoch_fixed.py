"""PPO that clears its gradients before the backward of every minibatch. See pytorch/pytorch#47175.

Round 25
Class: the line
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


class RolloutBuffer:
    def __init__(self, gamma, gae_lambda):
        self.gamma, self.gae_lambda = gamma, gae_lambda
        self.clear()

    def clear(self):
        self.rows = []

    def add(self, *row):
        self.rows.append(row)

    def compute(self):
        obs, actions, log_probs, rewards, values, next_values, dones = (np.array(x) for x in zip(*self.rows))
        advantages, last = np.zeros(len(rewards)), 0.0
        for t in reversed(range(len(rewards))):
            delta = rewards[t] + self.gamma * next_values[t] - values[t]
            last = delta + self.gamma * self.gae_lambda * (1 - dones[t]) * last
            advantages[t] = last
        columns = (obs, log_probs, advantages, advantages + values)
        tensors = [torch.as_tensor(x, dtype=torch.float32) for x in columns]
        return tensors[0], torch.as_tensor(actions), *tensors[1:]


class ActorCriticPolicy(nn.Module):
    def __init__(self, n_obs, n_actions, lr):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(n_obs, 64), nn.Tanh(), nn.Linear(64, n_actions))
        self.vf = nn.Sequential(nn.Linear(n_obs, 64), nn.Tanh(), nn.Linear(64, 1))
        self.optimizer = torch.optim.Adam(self.parameters(), lr=lr, eps=1e-5)

    def evaluate_actions(self, obs, actions):
        dist = Categorical(logits=self.pi(obs))
        return self.vf(obs).flatten(), dist.log_prob(actions), dist.entropy()

    @torch.no_grad()
    def predict(self, obs):
        obs = torch.as_tensor(obs)
        dist = Categorical(logits=self.pi(obs))
        action = dist.sample()
        return action.item(), dist.log_prob(action).item(), self.vf(obs).item()


class OnPolicyAlgorithm:
    def __init__(self, env, seed, n_steps=128, gamma=0.98, gae_lambda=0.9, lr=1e-3):
        torch.manual_seed(seed)
        self.env, self.n_steps = env, n_steps
        self.policy = ActorCriticPolicy(env.observation_space.shape[0], int(env.action_space.n), lr)
        self.buffer = RolloutBuffer(gamma, gae_lambda)
        self.last_obs, _ = env.reset(seed=seed)

    def collect_rollouts(self):
        self.buffer.clear()
        for _ in range(self.n_steps):
            action, log_prob, value = self.policy.predict(self.last_obs)
            obs, reward, terminated, truncated, _ = self.env.step(action)
            next_value = 0.0 if terminated else self.policy.predict(obs)[2]
            done = terminated or truncated
            self.buffer.add(self.last_obs, action, log_prob, reward, value, next_value, float(done))
            self.last_obs = self.env.reset()[0] if done else obs

    def learn(self, iterations):
        for _ in range(iterations):
            self.collect_rollouts()
            self.train()


class PPO(OnPolicyAlgorithm):
    n_epochs, batch_size, clip_range, ent_coef, vf_coef, max_grad_norm = 4, 32, 0.2, 0.01, 0.5, 0.5

    def train(self):
        obs, actions, old_log_prob, advantages, returns = self.buffer.compute()
        for _ in range(self.n_epochs):
            for batch in torch.randperm(len(obs)).split(self.batch_size):
                values, log_prob, entropy = self.policy.evaluate_actions(obs[batch], actions[batch])
                adv = advantages[batch]
                adv = (adv - adv.mean()) / (adv.std() + 1e-8)
                ratio = torch.exp(log_prob - old_log_prob[batch])
                clipped = torch.clamp(ratio, 1 - self.clip_range, 1 + self.clip_range)
                policy_loss = -torch.min(adv * ratio, adv * clipped).mean()
                value_loss = nn.functional.mse_loss(values, returns[batch])
                loss = policy_loss - self.ent_coef * entropy.mean() + self.vf_coef * value_loss
                self.policy.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
                self.policy.optimizer.step()


if __name__ == "__main__":
    PPO(gym.make("CartPole-v1"), seed=2518).learn(6)
