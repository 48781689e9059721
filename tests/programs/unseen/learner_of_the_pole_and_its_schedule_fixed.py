"""Double DQN on CartPole with prioritised replay: an actor that plays, and a learner with a warm-up of its learning
rate, a limit on its gradients and a target network that follows slowly.

Round 31
Class: the line
"""

import copy
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass(frozen=True)
class Settings:
    seed: int = 3111
    steps: int = 700
    learn_after: int = 200
    learn_every: int = 3
    batch: int = 32
    gamma: float = 0.99
    tau: float = 0.02
    lr: float = 1e-3
    warm_up: int = 30
    max_norm: float = 10.0


class PrioritizedReplay:
    def __init__(self, capacity, rng, alpha=0.6):
        self.states = np.zeros((capacity, 4), np.float32)
        self.next_states = np.zeros((capacity, 4), np.float32)
        self.actions, self.rewards = np.zeros(capacity, np.int64), np.zeros(capacity, np.float32)
        self.terminated, self.priorities = np.zeros(capacity, np.float32), np.zeros(capacity)
        self.alpha, self.rng, self.capacity, self.added = alpha, rng, capacity, 0

    def __len__(self):
        return min(self.added, self.capacity)

    def add(self, state, action, reward, next_state, terminated):
        i = self.added % self.capacity
        self.states[i], self.next_states[i] = state, next_state
        self.actions[i], self.rewards[i], self.terminated[i] = action, reward, terminated
        self.priorities[i] = self.priorities.max() or 1.0
        self.added += 1

    def sample(self, batch, beta=0.5):
        chances = self.priorities[: len(self)] ** self.alpha
        chances /= chances.sum()
        rows = self.rng.choice(len(self), size=batch, p=chances)
        weights = (len(self) * chances[rows]) ** -beta
        fields = (self.states, self.actions, self.rewards, self.next_states, self.terminated)
        weights = torch.as_tensor(weights / weights.max(), dtype=torch.float32)
        return rows, weights, [torch.from_numpy(f[rows]) for f in fields]


class Learner:
    def __init__(self, settings):
        self.settings = settings
        self.net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
        self.target = copy.deepcopy(self.net).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=settings.lr)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda step: min(1.0, (step + 1) / settings.warm_up)
        )

    @torch.no_grad()
    def act(self, state):
        return self.net(torch.from_numpy(state)).argmax().item()

    def td_errors(self, states, actions, rewards, next_states, terminated):
        with torch.no_grad():
            best = self.net(next_states).argmax(dim=1, keepdim=True)
            later = self.target(next_states).gather(1, best).squeeze(1)
            targets = rewards + self.settings.gamma * (1 - terminated) * later
        return targets - self.net(states).gather(1, actions.unsqueeze(1)).squeeze(1)

    def train_step(self, replay):
        rows, weights, batch = replay.sample(self.settings.batch)
        errors = self.td_errors(*batch)
        each = F.smooth_l1_loss(errors, torch.zeros_like(errors), reduction="none")
        loss = (weights * each).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), self.settings.max_norm)
        self.optimizer.step()
        self.schedule.step()
        replay.priorities[rows] = errors.detach().abs().numpy() + 1e-3
        with torch.no_grad():
            for p, t in zip(self.net.parameters(), self.target.parameters()):
                t.lerp_(p, self.settings.tau)
        return loss.item()


def main(settings):
    torch.manual_seed(settings.seed)
    rng = np.random.default_rng(settings.seed)
    env = gym.make("CartPole-v1")
    learner, replay = Learner(settings), PrioritizedReplay(500, rng)
    state, _ = env.reset(seed=settings.seed)
    losses, lengths, length = [], [], 0
    for step in range(settings.steps):
        epsilon = max(0.05, 1.0 - step / 500)
        action = int(rng.integers(2)) if rng.random() < epsilon else learner.act(state)
        next_state, reward, terminated, truncated, _ = env.step(action)
        replay.add(state, action, reward, next_state, terminated)
        state, length = next_state, length + 1
        if terminated or truncated:
            lengths.append(length)
            state, length = env.reset()[0], 0
        if step >= settings.learn_after and step % settings.learn_every == 0:
            losses.append(learner.train_step(replay))
    env.close()
    print(f"{len(lengths)} episodes, the last ones {np.mean(lengths[-5:]):.1f} long, loss {losses[-1]:.3f}")


if __name__ == "__main__":
    main(Settings())
