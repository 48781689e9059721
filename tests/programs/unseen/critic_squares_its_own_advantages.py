"""An actor-critic over copies of an environment: generalised advantages are made of live values, detached for the
actor and squared for the critic, whose loss is differentiated through every later value of the recursion.

Round 16
Class: weights
"""

import numpy as np
import torch
from torch import nn

torch.manual_seed(1607)
rng = np.random.default_rng(1607)
ENVS, STEPS = 6, 12


class Drift:
    """A point drifts on a line; the wind is seen, and the action pushes against it or with it."""

    def __init__(self):
        self.place, self.wind = rng.uniform(-1, 1, ENVS), rng.uniform(-0.3, 0.3, ENVS)

    def observe(self):
        return np.stack([self.place, self.wind, np.abs(self.place)], 1).astype(np.float32)

    def step(self, action):
        self.place = self.place + self.wind + 0.3 * (action - 1)
        out = np.abs(self.place) > 2
        reward = np.where(out, -1.0, 0.2 - 0.1 * np.abs(self.place))
        self.place[out] = rng.uniform(-1, 1, int(out.sum()))
        self.wind = np.clip(self.wind + 0.05 * rng.standard_normal(ENVS), -0.3, 0.3)
        return self.observe(), reward.astype(np.float32), out


class A2C(nn.Module):
    def __init__(self, inputs, actions):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, 1))
        self.actor = nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, actions))
        self.critic_optim = torch.optim.RMSprop(self.critic.parameters(), lr=5e-3)
        self.actor_optim = torch.optim.RMSprop(self.actor.parameters(), lr=1e-3)

    def select_action(self, obs):
        x = torch.from_numpy(obs)
        dist = torch.distributions.Categorical(logits=self.actor(x))
        action = dist.sample()
        return action, dist.log_prob(action), self.critic(x).squeeze(-1), dist.entropy()

    def get_losses(self, rewards, log_probs, values, last_value, entropy, masks, gamma=0.95, lam=0.9):
        advantages, carry = [], torch.zeros(ENVS)
        following = torch.cat([values[1:], last_value.unsqueeze(0)])
        for t in reversed(range(STEPS)):
            delta = rewards[t] + gamma * masks[t] * following[t] - values[t]  # BUG GS301
            carry = delta + gamma * lam * masks[t] * carry
            advantages.append(carry)
        advantages = torch.stack(advantages[::-1])  # BUG GS301
        critic_loss = advantages.pow(2).mean()  # BUG GS301
        actor_loss = -(advantages.detach() * log_probs).mean() - 0.01 * entropy.mean()
        return critic_loss, actor_loss

    def update_parameters(self, critic_loss, actor_loss):
        self.critic_optim.zero_grad()
        critic_loss.backward()
        self.critic_optim.step()
        self.actor_optim.zero_grad()
        actor_loss.backward()
        self.actor_optim.step()


env = Drift()
agent = A2C(inputs=3, actions=3)
obs, log = env.observe(), []
for phase in range(70):
    kept = []
    for _ in range(STEPS):
        action, log_prob, value, entropy = agent.select_action(obs)
        obs, reward, ended = env.step(action.numpy())
        kept.append(
            (torch.from_numpy(reward), log_prob, value, entropy, torch.from_numpy(1.0 - ended).float())
        )
    rewards, log_probs, values, entropies, masks = (torch.stack(column) for column in zip(*kept))
    with torch.no_grad():
        last_value = agent.critic(torch.from_numpy(obs)).squeeze(-1)
    losses = agent.get_losses(rewards, log_probs, values, last_value, entropies, masks)
    agent.update_parameters(*losses)
    log.append((losses[0].item(), rewards.mean().item()))
print(log[0], log[-1])
