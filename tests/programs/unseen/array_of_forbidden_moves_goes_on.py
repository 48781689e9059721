"""REINFORCE in a game where nothing can be chosen twice. The array of forbidden moves belongs to the game, which goes on
writing to it; the policy's masks share its memory, and backward finds all of them as the last move left it.

Round 16
Class: hidden writes
"""

import numpy as np
import torch
from torch import nn

torch.manual_seed(1608)
rng = np.random.default_rng(1608)
PARCELS, PICKS = 9, 5


class Loading:
    """Parcels with a worth and a size; five may be loaded, one after the other."""

    def __init__(self):
        self.forbidden = np.zeros(PARCELS, dtype=bool)

    def reset(self):
        self.worth = rng.uniform(0, 1, PARCELS).astype(np.float32)
        self.size = rng.uniform(0, 1, PARCELS).astype(np.float32)
        self.forbidden[:] = False
        self.room = 2.0
        return self.observe()

    def observe(self):
        room = np.full(PARCELS, self.room, np.float32)
        return np.stack([self.worth, self.size, self.forbidden.astype(np.float32), room], 1)

    def step(self, parcel):
        fits = self.size[parcel] <= self.room
        self.room -= float(self.size[parcel]) if fits else 0.0
        self.forbidden[parcel] = True  # BUG GS104
        return self.observe(), float(self.worth[parcel]) if fits else -0.3


class PointerPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 24))
        self.query = nn.Linear(24, 24)
        self.key = nn.Linear(24, 24)

    def forward(self, parcels, forbidden):
        x = self.embed(parcels)
        scores = self.key(x) @ torch.tanh(self.query(x.mean(0))) / 24**0.5
        return torch.distributions.Categorical(logits=scores.masked_fill(forbidden, -1e9))  # BUG GS104


def play(env, policy):
    obs, log_probs, rewards, entropies = env.reset(), [], [], []
    for _ in range(PICKS):
        forbidden = torch.from_numpy(env.forbidden)  # BUG GS104
        dist = policy(torch.from_numpy(obs), forbidden)
        parcel = dist.sample()
        log_probs.append(dist.log_prob(parcel))
        entropies.append(dist.entropy())
        obs, reward = env.step(parcel.item())
        rewards.append(reward)
    returns = np.cumsum(rewards[::-1])[::-1].astype(np.float32)
    return torch.stack(log_probs), torch.from_numpy(returns.copy()), torch.stack(entropies)


env, policy = Loading(), PointerPolicy()
optimizer = torch.optim.Adam(policy.parameters(), lr=2e-3)
baseline, scores = torch.zeros(PICKS), []
for episode in range(120):
    log_probs, returns, entropies = play(env, policy)
    advantage = returns - baseline
    baseline = 0.9 * baseline + 0.1 * returns
    loss = -(log_probs * advantage).mean() - 0.01 * entropies.mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
    scores.append(returns[0].item())
print(f"{np.mean(scores[:30]):.3f} → {np.mean(scores[-30:]):.3f}")
