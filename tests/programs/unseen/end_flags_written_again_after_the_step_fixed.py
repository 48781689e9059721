"""Flags of the rollout say whether an observation begins an episode; a second write after the step makes them say if it ends.
Repaired here.

Round 12
Class: meaning
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1210)
rng = np.random.default_rng(1210)
ENVS, STEPS, GAMMA, LAMBDA = 6, 24, 0.98, 0.9


class Balance:
    """Several poles at once; one that falls is put up again within the same step."""

    def reset(self):
        self.pole = rng.normal(0, 0.1, size=(ENVS, 3)).astype(np.float32)
        return self.pole.copy()

    def step(self, action):
        push = np.where(action == 1, 0.15, -0.15)
        self.pole[:, 1] += push + 0.3 * self.pole[:, 0] + rng.normal(0, 0.05, ENVS)
        self.pole[:, 0] += 0.3 * self.pole[:, 1]
        self.pole[:, 2] = push
        fallen = np.abs(self.pole[:, 0]) > 0.8
        self.pole[fallen] = rng.normal(0, 0.1, size=(int(fallen.sum()), 3))
        return self.pole.copy(), np.ones(ENVS, np.float32) - fallen, fallen


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))
        self.critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))


agent, env = Agent(), Balance()
optimizer = torch.optim.Adam(agent.parameters(), lr=2e-3)
store = {
    "obs": torch.zeros(STEPS, ENVS, 3),
    "action": torch.zeros(STEPS, ENVS),
    "logp": torch.zeros(STEPS, ENVS),
    "reward": torch.zeros(STEPS, ENVS),
    "done": torch.zeros(STEPS, ENVS),
    "value": torch.zeros(STEPS, ENVS),
}
next_obs, next_done = torch.from_numpy(env.reset()), torch.zeros(ENVS)
for iteration in range(15):
    for t in range(STEPS):
        store["obs"][t], store["done"][t] = next_obs, next_done
        with torch.no_grad():
            dist = Categorical(logits=agent.actor(next_obs))
            action = dist.sample()
            store["value"][t] = agent.critic(next_obs).squeeze(-1)
        store["action"][t], store["logp"][t] = action, dist.log_prob(action)
        after, reward, fallen = env.step(action.numpy())
        store["reward"][t] = torch.as_tensor(reward, dtype=torch.float32)
        next_obs, next_done = torch.from_numpy(after), torch.as_tensor(fallen, dtype=torch.float32)
    with torch.no_grad():
        advantage, carry = torch.zeros(STEPS, ENVS), 0.0
        for t in reversed(range(STEPS)):
            last = t == STEPS - 1
            goes_on = 1.0 - (next_done if last else store["done"][t + 1])
            ahead = agent.critic(next_obs).squeeze(-1) if last else store["value"][t + 1]
            delta = store["reward"][t] + GAMMA * goes_on * ahead - store["value"][t]
            advantage[t] = carry = delta + GAMMA * LAMBDA * goes_on * carry
        returns = advantage + store["value"]
    flat = {name: x.flatten(0, 1) for name, x in store.items()}
    weight, goal = advantage.flatten(), returns.flatten()
    weight = (weight - weight.mean()) / (weight.std() + 1e-8)
    for epoch in range(2):
        for rows in torch.randperm(STEPS * ENVS).split(48):
            dist = Categorical(logits=agent.actor(flat["obs"][rows]))
            ratio = (dist.log_prob(flat["action"][rows]) - flat["logp"][rows]).exp()
            surrogate = torch.min(ratio * weight[rows], ratio.clamp(0.8, 1.2) * weight[rows]).mean()
            error = (agent.critic(flat["obs"][rows]).squeeze(-1) - goal[rows]).pow(2).mean()
            loss = -surrogate + 0.5 * error - 0.01 * dist.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
