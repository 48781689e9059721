"""The repaired twin of a program in which the following goes wrong.
Soft actor-critic from a library of agents, whose policy stretches its tanh to the action space; the
correction of the log-probability is computed from the stretched action, and where the space is wider than
one the logarithm is taken of a negative number. After cpnota/autonomous-learning-library#139.

Round 37
Class: magnitude
"""

import copy
import random

import numpy as np
import torch
from torch import nn
from torch.distributions import Independent, Normal
from torch.nn.functional import mse_loss

SEED = 3727


class Box:
    def __init__(self, low, high):
        self.low, self.high = np.array(low, dtype=np.float32), np.array(high, dtype=np.float32)


class CartOnRail:
    """Push a cart to the middle of a rail with a force between -2 and 2; leaving the rail ends it."""

    action_space = Box([-2.0], [2.0])

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.x, self.v, self.t = self.rng.uniform(-1.5, 1.5), 0.0, 0
        return self._state()

    def _state(self):
        return np.array([self.x, self.v], dtype=np.float32)

    def step(self, action):
        self.v = 0.9 * self.v + 0.1 * float(action[0])
        self.x += 0.3 * self.v
        self.t += 1
        off = abs(self.x) > 2.5
        reward = -0.1 * self.x**2 - 0.02 * float(action[0]) ** 2 - 3.0 * off
        return self._state(), reward, off, self.t >= 40


class SoftDeterministicPolicy(nn.Module):
    """A normal distribution squashed into the action space."""

    def __init__(self, model, space):
        super().__init__()
        self.model = model
        self.register_buffer("_tanh_scale", torch.as_tensor((space.high - space.low) / 2))
        self.register_buffer("_tanh_mean", torch.as_tensor((space.high + space.low) / 2))

    def forward(self, state):
        outputs = self.model(state)
        means, logvars = outputs.chunk(2, dim=1)
        normal = Independent(Normal(means, logvars.clamp(-8, 2).mul(0.5).exp()), 1)
        raw = normal.rsample()
        action, log_prob = self._log_prob(normal, raw)
        return action, log_prob

    def _log_prob(self, normal, raw):
        """Use the change of variables to get the log-probability of the squashed action."""
        log_prob = normal.log_prob(raw)
        action = self._squash(raw)
        log_prob -= torch.log(self._tanh_scale * (1 - torch.tanh(raw).pow(2)) + 1e-6).sum(-1)
        return action, log_prob

    def _squash(self, x):
        return torch.tanh(x) * self._tanh_scale + self._tanh_mean


class ExperienceReplay:
    def __init__(self, size):
        self.buffer, self.size, self.position = [], size, 0

    def store(self, *transition):
        if len(self.buffer) < self.size:
            self.buffer.append(None)
        self.buffer[self.position] = transition
        self.position = (self.position + 1) % self.size

    def sample(self, n):
        states, actions, rewards, next_states, ends = zip(*random.sample(self.buffer, n))
        arrays = (
            np.stack(states),
            np.stack(actions),
            np.array(rewards),
            np.stack(next_states),
            np.array(ends),
        )
        return [torch.as_tensor(x, dtype=torch.float32) for x in arrays]


def fc(inputs, outputs, hidden=48):
    return nn.Sequential(
        nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, outputs)
    )


class SAC:
    def __init__(self, space, discount=0.95, polyak=0.02, lr=2e-3, temperature=0.1, entropy_target=-1.0):
        self.discount, self.polyak, self.lr_temperature = discount, polyak, 1e-2
        self.temperature, self.entropy_target = temperature, entropy_target
        self.policy = SoftDeterministicPolicy(fc(2, 2), space)
        self.q_1, self.q_2 = fc(3, 1), fc(3, 1)
        self.targets = copy.deepcopy(nn.ModuleList([self.q_1, self.q_2]))
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.q_optimizer = torch.optim.Adam([*self.q_1.parameters(), *self.q_2.parameters()], lr=lr)

    @torch.no_grad()
    def act(self, state):
        return self.policy(torch.from_numpy(state).unsqueeze(0))[0][0].numpy()

    @staticmethod
    def both(networks, states, actions):
        inputs = torch.cat([states, actions], dim=1)
        return [q(inputs).squeeze(1) for q in networks]

    def train(self, states, actions, rewards, next_states, ends):
        with torch.no_grad():
            next_actions, next_log_probs = self.policy(next_states)
            following = torch.min(*self.both(self.targets, next_states, next_actions))
            following = following - self.temperature * next_log_probs
            q_targets = rewards + self.discount * (1 - ends) * following
        q_1, q_2 = self.both((self.q_1, self.q_2), states, actions)
        self.q_optimizer.zero_grad()
        (mse_loss(q_1, q_targets) + mse_loss(q_2, q_targets)).backward()
        self.q_optimizer.step()

        new_actions, log_probs = self.policy(states)
        q_values = torch.min(*self.both((self.q_1, self.q_2), states, new_actions))
        loss = (self.temperature * log_probs - q_values).mean()
        self.policy_optimizer.zero_grad()
        loss.backward()
        self.policy_optimizer.step()

        gap = (log_probs.detach() + self.entropy_target).mean().item()
        self.temperature = max(0.0, self.temperature + self.lr_temperature * gap)
        with torch.no_grad():
            online = [*self.q_1.parameters(), *self.q_2.parameters()]
            for slow, quick in zip(self.targets.parameters(), online):
                slow.lerp_(quick, self.polyak)
        return loss.item()


random.seed(SEED)
torch.manual_seed(SEED)
env = CartOnRail(np.random.default_rng(SEED))
agent, replay = SAC(env.action_space), ExperienceReplay(5000)
state = env.reset()
for frame in range(420):
    action = agent.act(state)
    next_state, reward, terminated, truncated = env.step(action)
    replay.store(state, action, reward, next_state, terminated)
    state = env.reset() if terminated or truncated else next_state
    if frame >= 100 and frame % 4 == 0:
        loss = agent.train(*replay.sample(48))
print("loss", round(loss, 4))
