"""PPO for an arm with three joints. The log-probabilities keep a column per joint, so every joint is
clipped by a ratio of its own and the gradient is not that of the joint action.

Round 32
Class: axes
"""

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Normal

JOINTS, ARMS, STEPS, ITERATIONS, EPOCHS, MINIBATCHES = 3, 8, 20, 15, 4, 4
GAMMA, LAMBDA, CLIP = 0.95, 0.9, 0.2


class Arms:
    """Planar arms reach for a point within twenty steps; the steps that remain are part of what they see."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.q = self.rng.uniform(-1, 1, (ARMS, JOINTS))
        angle = self.rng.uniform(-1, 1, ARMS)
        self.goal, self.left = 2 * np.stack([np.cos(angle), np.sin(angle)], -1), STEPS
        return self.observe()

    def hand(self):
        angles = self.q.cumsum(-1)
        return np.stack([np.cos(angles).sum(-1), np.sin(angles).sum(-1)], -1)

    def observe(self):
        left = np.full((ARMS, 1), self.left / STEPS)
        obs = np.concatenate([np.cos(self.q), np.sin(self.q), self.goal - self.hand(), left], -1)
        return torch.tensor(obs, dtype=torch.float32)

    def step(self, action):
        self.q = self.q + 0.2 * np.clip(action, -1, 1)
        self.left -= 1
        reward = -0.1 * np.linalg.norm(self.goal - self.hand(), axis=-1)
        return self.observe(), torch.tensor(reward, dtype=torch.float32)


def layer_init(layer, gain=np.sqrt(2)):
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class Agent(nn.Module):
    def __init__(self, obs_dim):
        super().__init__()
        self.critic = nn.Sequential(
            layer_init(nn.Linear(obs_dim, 48)), nn.Tanh(), layer_init(nn.Linear(48, 1), 1.0)
        )
        self.actor_mean = nn.Sequential(
            layer_init(nn.Linear(obs_dim, 48)), nn.Tanh(), layer_init(nn.Linear(48, JOINTS), 0.01)
        )
        self.actor_logstd = nn.Parameter(torch.zeros(1, JOINTS))

    def get_value(self, obs):
        return self.critic(obs)

    def get_action_and_value(self, obs, action=None):
        mean = self.actor_mean(obs)
        probs = Normal(mean, self.actor_logstd.expand_as(mean).exp())
        if action is None:
            action = probs.sample()
        log_prob = probs.log_prob(action)  # BUG GS603
        return action, log_prob, self.critic(obs)


@torch.no_grad()
def rollout(arms, agent):
    obs, rows, rewards = arms.reset(), [], []
    for _ in range(STEPS):
        action, log_prob, value = agent.get_action_and_value(obs)
        rows.append((obs, action, log_prob, value))
        obs, reward = arms.step(action.numpy())
        rewards.append(reward.unsqueeze(-1))
    obs, action, log_prob, value = (torch.stack(column) for column in zip(*rows))
    advantage, last, next_value = [], 0.0, torch.zeros(ARMS, 1)
    for t in reversed(range(STEPS)):
        last = rewards[t] + GAMMA * next_value - value[t] + GAMMA * LAMBDA * last
        next_value = value[t]
        advantage.append(last)
    advantage = torch.stack(advantage[::-1])
    data = obs, action, log_prob, advantage, advantage + value
    return [item.flatten(0, 1) for item in data], torch.stack(rewards).sum(0).mean().item()


torch.manual_seed(11)
arms, agent = Arms(11), Agent(2 * JOINTS + 3)
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3, eps=1e-5)
for iteration in range(ITERATIONS):
    (b_obs, b_actions, b_logprobs, b_advantages, b_returns), score = rollout(arms, agent)
    for _ in range(EPOCHS):
        for mb in torch.randperm(len(b_obs)).chunk(MINIBATCHES):
            _, new_logprob, new_value = agent.get_action_and_value(b_obs[mb], b_actions[mb])
            ratio = (new_logprob - b_logprobs[mb]).exp()  # BUG GS603
            mb_adv = b_advantages[mb]
            mb_adv = (mb_adv - mb_adv.mean()) / (mb_adv.std() + 1e-8)
            pg_loss1 = -mb_adv * ratio
            pg_loss2 = -mb_adv * ratio.clamp(1 - CLIP, 1 + CLIP)
            pg_loss = torch.max(pg_loss1, pg_loss2).mean()
            v_loss = 0.5 * (new_value - b_returns[mb]).pow(2).mean()
            optimizer.zero_grad()
            (pg_loss + 0.5 * v_loss).backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    if iteration % 5 == 0:
        print(f"iteration {iteration}: return {score:.3f}")
