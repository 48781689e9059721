"""An advantage actor-critic over copies of an environment. Log-probabilities and values are stacked by steps, the
returns by copies; both are flattened and have the same length, so that hardly any step meets the return that
follows it.
Repaired here.

Round 19
Class: axes
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

NUM_ENVS, NUM_STEPS, GAMMA, UPDATES = 6, 10, 0.9, 60


class Ferries:
    """Six ferries cross their rivers for themselves; a trip ends at a bank, the right one pays."""

    def __init__(self):
        self.place, self.drift = torch.zeros(NUM_ENVS), torch.zeros(NUM_ENVS)
        self.restart(torch.ones(NUM_ENVS, dtype=torch.bool))

    def restart(self, which):
        self.place = torch.where(which, 0.5 * torch.rand(NUM_ENVS) - 0.25, self.place)
        self.drift = torch.where(which, 0.4 * torch.rand(NUM_ENVS) - 0.2, self.drift)

    def observe(self):
        return torch.stack([self.place, 5 * self.drift], dim=1)

    def step(self, action):
        self.place = self.place + self.drift + 0.3 * (action.float() - 1)
        done = self.place.abs() > 1
        reward = torch.where(done, self.place.sign(), torch.full_like(self.place, -0.02))
        self.restart(done)
        return self.observe(), reward, done.float()


class Model(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, hidden), nn.ReLU())
        self.policy, self.value = nn.Linear(hidden, 3), nn.Linear(hidden, 1)

    def forward(self, x):
        x = self.body(x)
        return torch.distributions.Categorical(logits=self.policy(x)), self.value(x).squeeze(-1)


def discounted(rewards, dones, last_value):
    """Lists of [envs], one for every step."""
    running, returns = last_value, []
    for reward, done in zip(reversed(rewards), reversed(dones)):
        running = reward + GAMMA * running * (1 - done)
        returns.append(running)
    return torch.stack(returns[::-1])


torch.manual_seed(1919)
envs, model = Ferries(), Model()
optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
obs = envs.observe()
for update in range(UPDATES):
    log_probs, values, entropies, rewards, dones = [], [], [], [], []
    for _ in range(NUM_STEPS):
        dist, value = model(obs)
        action = dist.sample()
        obs, reward, done = envs.step(action)
        log_probs.append(dist.log_prob(action))
        values.append(value)
        entropies.append(dist.entropy())
        rewards.append(reward)
        dones.append(done)
    with torch.no_grad():
        last_value = model(obs)[1]
    returns = discounted(rewards, dones, last_value).flatten()
    values = torch.stack(values).flatten()
    advantages = returns - values.detach()
    policy_loss = -(torch.stack(log_probs).flatten() * advantages).mean()
    value_loss = F.mse_loss(values, returns)
    loss = policy_loss + 0.5 * value_loss - 0.01 * torch.stack(entropies).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    if update % 20 == 19:
        print(update, f"{torch.stack(rewards).mean().item():.3f}", f"{value_loss.item():.3f}")
