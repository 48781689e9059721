"""A policy learns to steer the learning rate of small networks; the environment trains them. Its history of rewards is made
of their held-out losses, each with the graph of its network behind it, and every step joins the history to the next.

Round 20
Class: stays alive
"""

import torch
import torch.nn as nn
from torch.distributions import Categorical


class LearningRateEnv:
    """Several regressions side by side. An action changes the learning rate; the reward is the held-out loss, negated."""

    FACTORS = torch.tensor([0.5, 1.0, 2.0])

    def __init__(self, num_envs, window=5, horizon=8):
        self.num_envs, self.window, self.horizon = num_envs, window, horizon
        self.reward_buffer = torch.zeros(num_envs, 1)

    def reset(self):
        self.weights = torch.randn(self.num_envs, 6, requires_grad=True)
        self.truth = torch.randn(self.num_envs, 6)
        self.lr, self.clock = torch.full((self.num_envs, 1), 0.02), 0
        return self.observe()

    def batch(self, n=16):
        x = torch.randn(self.num_envs, n, 6)
        return x, (x @ self.truth.unsqueeze(-1)).squeeze(-1) + 0.1 * torch.randn(self.num_envs, n)

    def losses(self, x, y):
        return ((x @ self.weights.unsqueeze(-1)).squeeze(-1) - y).pow(2).mean(1, keepdim=True)

    def observe(self):
        recent = self.reward_buffer.detach()[:, -self.window :]
        stats = [
            recent.mean(1, keepdim=True),
            recent[:, -1:],
            self.lr.log(),
            torch.full_like(self.lr, self.clock / 8),
        ]
        return torch.cat(stats, dim=1)

    def step(self, actions):
        self.lr = (self.lr * self.FACTORS[actions].unsqueeze(1)).clamp(1e-3, 0.3)
        train_loss = self.losses(*self.batch())
        (grad,) = torch.autograd.grad(train_loss.sum(), self.weights)
        self.weights = (self.weights - self.lr * grad).detach().requires_grad_()
        self.clock += 1
        rewards = -self.losses(*self.batch()).clamp(max=10)  # BUG GS305
        self.reward_buffer = torch.cat([self.reward_buffer, rewards], dim=1)  # BUG GS305
        if self.reward_buffer.shape[1] > 40:
            self.reward_buffer = self.reward_buffer[:, -40:]
        return self.observe(), rewards.squeeze(1).tolist(), self.clock >= self.horizon


class SteeringPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 3))

    def forward(self, obs):
        return Categorical(logits=self.body(obs))


def returns_to_go(rewards, gamma=0.9):
    out, running = [], torch.zeros(len(rewards[0]))
    for row in reversed(rewards):
        running = torch.tensor(row) + gamma * running
        out.append(running)
    return torch.stack(out[::-1])


torch.manual_seed(2021)
env, policy = LearningRateEnv(num_envs=10), SteeringPolicy()
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
for episode in range(40):
    obs, done, log_probs, rewards = env.reset(), False, [], []
    while not done:
        dist = policy(obs)
        actions = dist.sample()
        obs, reward, done = env.step(actions)
        log_probs.append(dist.log_prob(actions))
        rewards.append(reward)
    returns = returns_to_go(rewards)
    baseline = returns.mean(1, keepdim=True)  # over the regressions, at the same step
    loss = -(torch.stack(log_probs) * (returns - baseline)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if episode % 10 == 0:
        print(f"episode {episode}: last held-out loss {-sum(rewards[-1]) / len(rewards[-1]):.3f}")
