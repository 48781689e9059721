"""Several agents with continuous actions share a policy. The log-probability of an action is one number, summed over the
joints; the buffer has a column for every joint, and NumPy fills them all with it. The surrogate, which sums over the
last axis, counts every action as often as it has joints.

Round 20
Class: axes
"""

import numpy as np
import torch
from torch import nn


class FixedNormal(torch.distributions.Normal):
    def log_probs(self, actions):
        return super().log_prob(actions).sum(-1, keepdim=True)

    def entropies(self):
        return super().entropy().sum(-1)


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, share_dim, act_dim):
        super().__init__()
        self.base = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh())
        self.mean = nn.Linear(32, act_dim)
        self.logstd = nn.Parameter(torch.full((act_dim,), -0.5))
        self.critic = nn.Sequential(nn.Linear(share_dim, 32), nn.Tanh(), nn.Linear(32, 1))

    def dist(self, obs):
        mean = self.mean(self.base(obs))
        return FixedNormal(mean, self.logstd.exp().expand_as(mean))


class SharedReplayBuffer:
    def __init__(self, steps, agents, obs_dim, share_dim, act_dim):
        self.obs = np.zeros((steps, agents, obs_dim), dtype=np.float32)
        self.share_obs = np.zeros((steps, agents, share_dim), dtype=np.float32)
        self.actions = np.zeros((steps, agents, act_dim), dtype=np.float32)
        self.action_log_probs = np.zeros((steps, agents, act_dim), dtype=np.float32)  # BUG GS603 GS601
        self.value_preds = np.zeros((steps + 1, agents, 1), dtype=np.float32)
        self.rewards = np.zeros((steps, agents, 1), dtype=np.float32)
        self.masks = np.ones((steps, agents, 1), dtype=np.float32)

    def insert(self, t, **rows):
        for name, value in rows.items():
            getattr(self, name)[t] = value

    def returns(self, gamma=0.95, lam=0.95):
        gae, out = 0.0, np.zeros_like(self.rewards)
        for t in reversed(range(len(self.rewards))):
            delta = self.rewards[t] + gamma * self.masks[t] * self.value_preds[t + 1] - self.value_preds[t]
            gae = delta + gamma * lam * self.masks[t] * gae
            out[t] = gae + self.value_preds[t]
        return out

    def flat(self, array):
        return torch.from_numpy(array.reshape(-1, array.shape[-1]))


class Herd:
    """Four dogs on a meadow keep their distance from each other and stay near the sheep. Ten steps to an hour."""

    def __init__(self, rng, agents=4):
        self.rng, self.agents = rng, agents

    def reset(self):
        self.dogs, self.clock = self.rng.normal(size=(self.agents, 2)), 0
        return self.observe()

    def observe(self):
        time = np.full((self.agents, 1), self.clock / 10)
        obs = np.concatenate(
            [self.dogs, self.dogs.mean(0, keepdims=True).repeat(self.agents, 0), time], axis=1
        )
        share = np.concatenate([self.dogs.reshape(1, -1).repeat(self.agents, 0), time], axis=1)
        return obs.astype(np.float32), share.astype(np.float32)

    def step(self, actions):
        self.dogs = self.dogs + 0.3 * np.tanh(actions[:, :2]) * (1 + 0.2 * np.tanh(actions[:, 2:]))
        self.clock += 1
        apart = np.linalg.norm(self.dogs[:, None] - self.dogs[None], axis=-1).sum(1) / (self.agents - 1)
        reward = -np.abs(apart - 1.0) - 0.5 * np.linalg.norm(self.dogs, axis=1)
        return self.observe(), reward[:, None], self.clock == 10


def train(buffer, model, optimizer, epochs=4, clip_param=0.2):
    returns = buffer.flat(buffer.returns())
    advantages = returns - buffer.flat(buffer.value_preds[:-1])
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-5)
    obs, share_obs, actions = (
        buffer.flat(buffer.obs),
        buffer.flat(buffer.share_obs),
        buffer.flat(buffer.actions),
    )
    old_action_log_probs = buffer.flat(buffer.action_log_probs)
    for _ in range(epochs):
        dist = model.dist(obs)
        imp_weights = torch.exp(dist.log_probs(actions) - old_action_log_probs)  # BUG GS603 GS601
        surr1 = imp_weights * advantages
        surr2 = torch.clamp(imp_weights, 1.0 - clip_param, 1.0 + clip_param) * advantages
        policy_loss = -torch.sum(torch.min(surr1, surr2), dim=-1, keepdim=True).mean()
        value_loss = (model.critic(share_obs) - returns).pow(2).mean()
        optimizer.zero_grad()
        (policy_loss + 0.5 * value_loss - 0.01 * dist.entropies().mean()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        optimizer.step()


torch.manual_seed(2024)
env = Herd(np.random.default_rng(2024))
model = ActorCritic(obs_dim=5, share_dim=9, act_dim=3)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, eps=1e-5)
obs, share = env.reset()
for episode in range(20):
    buffer = SharedReplayBuffer(30, env.agents, 5, 9, 3)
    for t in range(30):
        with torch.no_grad():
            dist = model.dist(torch.from_numpy(obs))
            actions, value = dist.sample(), model.critic(torch.from_numpy(share))
            log_probs = dist.log_probs(actions).numpy()
        rows = {"obs": obs, "share_obs": share, "actions": actions.numpy(), "action_log_probs": log_probs}
        (obs, share), reward, done = env.step(rows["actions"])
        buffer.insert(t, **rows, value_preds=value.numpy(), rewards=reward, masks=1.0 - done)
        if done:
            obs, share = env.reset()
    with torch.no_grad():
        buffer.value_preds[-1] = model.critic(torch.from_numpy(share)).numpy()
    train(buffer, model, optimizer)
print("mean reward", buffer.rewards.mean().round(3))
