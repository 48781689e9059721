"""A recurrent actor-critic ends in a log-softmax that was never told its axis. Acting shows it rows, and it picks the
actions; learning shows it whole rollouts, and it picks time.
Repaired here.

Round 16
Class: axes
"""

import numpy as np
import torch
from torch import nn

torch.manual_seed(1611)
rng = np.random.default_rng(1611)
ENVS, STEPS, CUES, GAMMA = 9, 14, 4, 0.5


class Recall:
    """A cue is shown; the action has to name the cue of the step before."""

    def __init__(self):
        self.last, self.now = rng.integers(CUES, size=(2, ENVS))

    def observe(self):
        return torch.from_numpy(np.eye(CUES, dtype=np.float32)[self.now])

    def step(self, action):
        reward = (action == self.last).astype(np.float32)
        self.last, self.now = self.now, rng.integers(CUES, size=ENVS)
        return self.observe(), torch.from_numpy(reward)


class RecurrentActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRU(CUES, 32)
        self.policy = nn.Sequential(nn.Linear(32, CUES), nn.LogSoftmax(dim=-1))
        self.value = nn.Linear(32, 1)

    def heads(self, features):
        return self.policy(features), self.value(features).squeeze(-1)

    def act(self, obs, memory):
        features, memory = self.cell(obs.unsqueeze(0), memory)
        log_probs, _ = self.heads(features.squeeze(0))
        return torch.multinomial(log_probs.exp(), 1).squeeze(1), memory

    def evaluate(self, obs, memory):
        """A rollout [STEPS, ENVS, CUES] at once, from the memory that it began with."""
        features, _ = self.cell(obs, memory)
        return self.heads(features)


class Worker:
    def __init__(self, net):
        self.net, self.env = net, Recall()
        self.obs, self.memory = self.env.observe(), torch.zeros(1, ENVS, 32)

    @torch.no_grad()
    def rollout(self):
        start, rows = self.memory, []
        for _ in range(STEPS):
            action, self.memory = self.net.act(self.obs, self.memory)
            after, reward = self.env.step(action.numpy())
            rows.append((self.obs, action, reward))
            self.obs = after
        return start, *(torch.stack(column) for column in zip(*rows))


def discounted(reward, last):
    out = []
    for row in reward.flip(0):
        last = row + GAMMA * last
        out.append(last)
    return torch.stack(out[::-1])


def update(net, optimizer, start, obs, action, reward):
    log_probs, value = net.evaluate(obs, start)
    returns = discounted(reward, value[-1].detach())
    advantage = (returns - value).detach()
    taken = log_probs.gather(-1, action.unsqueeze(-1)).squeeze(-1)
    entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
    loss = -(taken * advantage).mean() + 0.5 * (returns - value).pow(2).mean() - 0.01 * entropy
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    optimizer.step()
    return reward.mean().item()


net = RecurrentActorCritic()
worker, optimizer = Worker(net), torch.optim.Adam(net.parameters(), lr=1e-2)
scores = [update(net, optimizer, *worker.rollout()) for _ in range(100)]
print(f"{np.mean(scores[:10]):.3f} → {np.mean(scores[-10:]):.3f}")
