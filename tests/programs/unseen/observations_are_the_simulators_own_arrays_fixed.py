"""A policy gradient on a physics simulator that hands out its own arrays as observations. They are turned into
tensors without a copy and go through the policy while the episode runs; the next step writes new positions into the
same memory, and at the end of the episode the first layer remembers the last state for all of its steps.
Repaired here.

Round 21
Class: hidden writes
"""

from collections import OrderedDict, namedtuple

import numpy as np
import torch
from torch import nn

TimeStep = namedtuple("TimeStep", "last reward observation")


class Physics:
    """Two masses on a line, held together by a spring. A force acts on the first."""

    def __init__(self):
        self.qpos, self.qvel = np.zeros(2, dtype=np.float32), np.zeros(2, dtype=np.float32)
        self.left = np.ones(1, dtype=np.float32)

    def step(self, force, dt=0.2):
        stretch = self.qpos[1] - self.qpos[0]
        self.qvel[0] += dt * (force + stretch - 0.3 * self.qvel[0])
        self.qvel[1] += dt * (-stretch - 0.3 * self.qvel[1])
        self.qpos += dt * self.qvel


class Suite:
    """Bring both masses to the mark; twenty steps make an episode, and what is left of it can be seen."""

    def __init__(self, seed, limit=20):
        self.rng, self.limit, self.physics = np.random.default_rng(seed), limit, Physics()

    def get_observation(self):
        obs = OrderedDict()
        obs["position"] = self.physics.qpos.copy()
        obs["velocity"] = self.physics.qvel.copy()
        obs["left"] = self.physics.left.copy()
        return obs

    def reset(self):
        self.physics.qpos[:] = self.rng.uniform(-1, 1, 2)
        self.physics.qvel[:] = 0.0
        self.clock, self.physics.left[0] = 0, 1.0
        return TimeStep(False, 0.0, self.get_observation())

    def step(self, action):
        self.physics.step(float(np.clip(action, -2, 2)))
        self.clock += 1
        self.physics.left[0] = 1.0 - self.clock / self.limit
        reward = -float(np.square(self.physics.qpos - 0.5).sum())
        return TimeStep(self.clock == self.limit, reward, self.get_observation())


class GaussianPolicy(nn.Module):
    """A layer of its own for each part of the observation, as the parts come in a dictionary."""

    def __init__(self, sizes, hidden=32):
        super().__init__()
        self.inputs = nn.ModuleDict({name: nn.Linear(size, hidden) for name, size in sizes.items()})
        self.mean, self.log_std = nn.Linear(hidden, 1), nn.Parameter(torch.tensor(-0.5))

    def forward(self, observation):
        tensors = {name: torch.from_numpy(array) for name, array in observation.items()}
        parts = [self.inputs[name](tensor) for name, tensor in tensors.items()]
        return torch.distributions.Normal(self.mean(torch.tanh(sum(parts))), self.log_std.exp())


def discount(rewards, gamma=0.95):
    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + gamma * total
        returns.append(total)
    return returns[::-1]


def run_episode(env, policy):
    log_probs, rewards = [], []
    time_step = env.reset()
    while not time_step.last:
        dist = policy(time_step.observation)
        action = dist.sample()
        log_probs.append(dist.log_prob(action).sum())
        time_step = env.step(action.item())
        rewards.append(time_step.reward)
    return log_probs, rewards


def main(iterations=60, episodes=4):
    torch.manual_seed(34)
    env = Suite(seed=34)
    policy = GaussianPolicy({"position": 2, "velocity": 2, "left": 1})
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    history = []
    for iteration in range(iterations):
        batch = [run_episode(env, policy) for _ in range(episodes)]
        returns = torch.tensor([discount(rewards) for _, rewards in batch])
        advantages = returns - returns.mean(0, keepdim=True)
        advantages = advantages / (advantages.std() + 1e-6)
        log_probs = torch.stack([torch.stack(log_probs) for log_probs, _ in batch])
        loss = -(log_probs * advantages).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(np.mean([sum(rewards) for _, rewards in batch]))
        if iteration % 15 == 14:
            print(f"iteration {iteration + 1}: score {np.mean(history[-15:]):.2f}")


main()
