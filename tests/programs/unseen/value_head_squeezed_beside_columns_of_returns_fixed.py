"""Proximal policy optimisation of a chunked policy. The rollout stores values and returns as columns; when the values
are computed again for the update, the head drops its last axis. Every difference of the clipped value loss becomes a
square, and each prediction is fitted to all the returns of the minibatch.
Repaired here.

Round 21
Class: axes
"""

import torch
from torch import nn

STEPS, ENVS, HORIZON = 16, 12, 16


class Reach:
    """A hand on a table is to follow a target. An episode has sixteen steps, and the clock is observed."""

    def __init__(self, envs):
        self.envs = envs

    def reset(self):
        self.hand = torch.rand(self.envs, 2) * 2 - 1
        self.goal = torch.rand(self.envs, 2) * 2 - 1
        self.clock = 0
        return self.observe()

    def observe(self):
        return torch.cat([self.hand, self.goal, torch.full((self.envs, 1), self.clock / HORIZON)], -1)

    def step(self, action):
        self.hand = self.hand + 0.25 * action.clamp(-1, 1)
        self.clock += 1
        reward = -(self.hand - self.goal).norm(dim=-1, keepdim=True)
        done = self.clock == HORIZON
        return (self.reset() if done else self.observe()), reward, torch.full((self.envs, 1), float(done))


class ActionExpert(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.action_out = nn.Linear(64, 2)
        self.log_std = nn.Parameter(torch.full((2,), -0.7))
        self.value_head = nn.Linear(64, 1)

    def sample(self, obs):
        hidden = self.body(obs)
        dist = torch.distributions.Normal(self.action_out(hidden), self.log_std.exp())
        action = dist.sample()
        return action, dist.log_prob(action).sum(-1, keepdim=True), self.value_head(hidden)

    def recompute(self, obs, action):
        hidden = self.body(obs)
        dist = torch.distributions.Normal(self.action_out(hidden), self.log_std.exp())
        logprob = dist.log_prob(action).sum(-1, keepdim=True)
        return logprob, self.value_head(hidden), dist.entropy().sum(-1).mean()


def collect(env, model, obs):
    rows = {name: [] for name in ("obs", "action", "logprob", "value", "reward", "done")}
    for _ in range(STEPS):
        with torch.no_grad():
            action, logprob, value = model.sample(obs)
        next_obs, reward, done = env.step(action)
        for name, item in zip(rows, (obs, action, logprob, value, reward, done)):
            rows[name].append(item)
        obs = next_obs
    return {name: torch.stack(items) for name, items in rows.items()}, obs


def gae(batch, last_value, gamma=0.95, lam=0.95):
    advantages, running = torch.zeros_like(batch["reward"]), 0.0
    for t in reversed(range(STEPS)):
        alive = 1.0 - batch["done"][t]
        after = last_value if t == STEPS - 1 else batch["value"][t + 1]
        delta = batch["reward"][t] + gamma * alive * after - batch["value"][t]
        running = delta + gamma * lam * alive * running
        advantages[t] = running
    return advantages, advantages + batch["value"]


def critic_loss(values, returns, prev_values, value_clip=0.2):
    clipped = prev_values + (values - prev_values).clamp(-value_clip, value_clip)
    original = (returns - values) ** 2
    return torch.max(original, (returns - clipped) ** 2).mean()


torch.manual_seed(3)
env, model = Reach(ENVS), ActionExpert()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
obs = env.reset()
for update in range(50):
    batch, obs = collect(env, model, obs)
    with torch.no_grad():
        batch["advantage"], batch["return"] = gae(batch, model.sample(obs)[2])
    flat = {name: item.flatten(0, 1) for name, item in batch.items()}
    advantage = flat["advantage"]
    flat["advantage"] = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    for _ in range(3):
        for index in torch.randperm(STEPS * ENVS).split(96):
            part = {name: item[index] for name, item in flat.items()}
            logprob, values, entropy = model.recompute(part["obs"], part["action"])
            ratio = (logprob - part["logprob"]).exp()
            surrogate = torch.min(ratio * part["advantage"], ratio.clamp(0.8, 1.2) * part["advantage"])
            loss = (
                -surrogate.mean() + 0.5 * critic_loss(values, part["return"], part["value"]) - 0.001 * entropy
            )
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    if update % 10 == 9:
        print(f"update {update + 1}: reward {batch['reward'].mean():.3f}")
