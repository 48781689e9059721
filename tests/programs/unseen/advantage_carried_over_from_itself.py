"""The backward recursion of the advantages multiplies the entry that it is about to write, which is still zero, not
the one behind it: nothing further than one step is ever counted.

Round 22
Class: meaning
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn


class PPONet(nn.Module):
    def __init__(self):
        super().__init__()
        self.common = nn.Linear(4, 32)
        self.pi, self.v = nn.Linear(32, 2), nn.Linear(32, 1)

    def forward(self, states, actions=None):
        h = torch.tanh(self.common(states))
        dist = torch.distributions.Categorical(logits=self.pi(h))
        actions = dist.sample() if actions is None else actions
        return actions, dist.log_prob(actions), dist.entropy(), self.v(h).squeeze(-1)


def collect_trajectories(env, model, state, length):
    columns = {"s": [], "a": [], "logp": [], "v": [], "r": [], "not_done": []}
    for _ in range(length):
        x = torch.from_numpy(state)
        with torch.no_grad():
            a, logp, _, v = model(x)
        following, r, terminated, truncated, _ = env.step(int(a))
        for key, value in zip(columns, (x, a, logp, v, r, 1.0 - terminated)):
            columns[key].append(torch.as_tensor(value, dtype=torch.int64 if key == "a" else torch.float32))
        state = env.reset()[0] if terminated or truncated else following
    return {key: torch.stack(column) for key, column in columns.items()}, state


def calc_returns(batch, last_value, gamma=0.98, lam=0.95):
    length = len(batch["r"])
    values = torch.cat([batch["v"], last_value[None]])
    advantages = torch.zeros(length)
    for t in reversed(range(length)):
        td_error = batch["r"][t] + gamma * batch["not_done"][t] * values[t + 1] - values[t]
        advantages[t] = advantages[t] * lam * gamma * batch["not_done"][t] + td_error  # BUG GS806
    returns = advantages + values[:-1]  # BUG GS806
    return advantages, returns


torch.manual_seed(2219)
env = gym.make("CartPole-v1", max_episode_steps=5000)
state, _ = env.reset(seed=2219)
model = PPONet()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for i_episode in range(12):
    batch, state = collect_trajectories(env, model, state, 64)
    with torch.no_grad():
        last_value = model(torch.from_numpy(state))[3]
        advantages, returns = calc_returns(batch, last_value)
    for _ in range(3):
        _, logp, entropy, v = model(batch["s"], batch["a"])
        ratio = (logp - batch["logp"]).exp()
        clipped = torch.clamp(ratio, 0.9, 1.1)
        policy_loss = -torch.min(ratio * advantages, clipped * advantages).mean()
        loss = policy_loss + 0.5 * (v - returns).pow(2).mean() - 0.01 * entropy.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if i_episode % 4 == 0:
        print(i_episode, round(loss.item(), 3))
