"""Five-step advantage actor-critic on CartPole. The log-probabilities of a segment are gathered with a
constructor that copies their numbers, so the policy term is a constant and only the value and the entropy
are trained.

Round 32
Class: the line
"""

import gymnasium as gym
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class ActorCritic(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(n_obs, 64), nn.Tanh())
        self.actor = nn.Linear(64, n_act)
        self.critic = nn.Linear(64, 1)

    def forward(self, x):
        x = self.shared(x)
        return Categorical(logits=self.actor(x)), self.critic(x).squeeze(-1)


class Segment:
    def __init__(self):
        self.log_probs, self.values, self.entropies, self.rewards = [], [], [], []

    def add(self, log_prob, value, entropy, reward):
        self.log_probs.append(log_prob)
        self.values.append(value)
        self.entropies.append(entropy)
        self.rewards.append(reward)

    def returns(self, bootstrap, gamma):
        out = []
        for reward in reversed(self.rewards):
            bootstrap = reward + gamma * bootstrap
            out.insert(0, bootstrap)
        return torch.tensor(out)


def a2c_loss(segment, bootstrap, gamma=0.98, value_coef=0.5, entropy_coef=0.01):
    returns = segment.returns(bootstrap, gamma)
    values = torch.stack(segment.values)
    log_probs = torch.tensor(segment.log_probs)  # BUG GS202
    entropy = torch.stack(segment.entropies).mean()
    advantages = returns - values.detach()
    policy_loss = -(log_probs * advantages).mean()
    value_loss = F.smooth_l1_loss(values, returns)
    return policy_loss + value_coef * value_loss - entropy_coef * entropy


def train(total_steps=900, n_steps=5, seed=1):
    torch.manual_seed(seed)
    env = gym.make("CartPole-v1")
    model = ActorCritic(env.observation_space.shape[0], env.action_space.n)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

    obs, _ = env.reset(seed=seed)
    segment, length, lengths = Segment(), 0, []
    for _ in range(total_steps):
        dist, value = model(torch.from_numpy(obs))
        action = dist.sample()
        obs, reward, terminated, truncated, _ = env.step(action.item())
        segment.add(dist.log_prob(action), value, dist.entropy(), 0.1 * reward)
        length += 1

        if terminated or truncated or len(segment.rewards) == n_steps:
            bootstrap = 0.0
            if not terminated:
                with torch.no_grad():
                    bootstrap = model(torch.from_numpy(obs))[1].item()
            loss = a2c_loss(segment, bootstrap)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            segment = Segment()

        if terminated or truncated:
            lengths.append(length)
            obs, length = env.reset()[0], 0
    env.close()
    return lengths


if __name__ == "__main__":
    lengths = train()
    print(f"{len(lengths)} episodes, the last ten of {sum(lengths[-10:]) / 10:.1f} steps")
