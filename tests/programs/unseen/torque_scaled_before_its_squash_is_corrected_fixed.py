"""SAC on a pendulum whose torque goes up to two: the correction for the squash takes the scaled action, one minus its
square is negative, and its logarithm is not a number. After cpnota/autonomous-learning-library#139.
Repaired here.

Round 35
Class: magnitude
"""

import random

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Independent, Normal
from torch.nn.functional import mse_loss

SEED = 3528


def fc(n_in, n_out, hidden=64):
    return nn.Sequential(
        nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, n_out)
    )


class SoftDeterministicPolicy(nn.Module):
    """Returns an action within the space's bounds, and its log-prob."""

    def __init__(self, model, space):
        super().__init__()
        self.model = model
        self.register_buffer("tanh_scale", torch.tensor((space.high - space.low) / 2))
        self.register_buffer("tanh_mean", torch.tensor((space.high + space.low) / 2))

    def forward(self, state):
        means, logvars = self.model(state).chunk(2, dim=-1)
        normal = Independent(Normal(means, logvars.clamp(-8, 2).mul(0.5).exp(), validate_args=False), 1)
        raw = normal.rsample()
        return self._squash(raw, normal.log_prob(raw))

    def _squash(self, raw, log_prob):
        squashed = torch.tanh(raw)
        action = squashed * self.tanh_scale + self.tanh_mean
        correction = torch.log(self.tanh_scale * (1 - squashed.pow(2)) + 1e-6)
        return action, log_prob - correction.sum(-1)


class QContinuous(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, states, actions):
        return self.model(torch.cat([states, actions], dim=-1)).squeeze(-1)


class Polyak:
    def __init__(self, live, rate):
        self.live, self.rate = live, rate
        self.fixed = QContinuous(fc(4, 1))
        self.fixed.load_state_dict(live.state_dict())

    @torch.no_grad()
    def __call__(self, states, actions):
        return self.fixed(states, actions)

    @torch.no_grad()
    def update(self):
        for f, x in zip(self.fixed.parameters(), self.live.parameters()):
            f.lerp_(x, self.rate)


class SAC:
    def __init__(self, space, discount=0.98, temperature=0.1, lr_temperature=1e-3):
        self.policy = SoftDeterministicPolicy(fc(3, 2), space)
        self.q_1, self.q_2 = QContinuous(fc(4, 1)), QContinuous(fc(4, 1))
        self.targets = [Polyak(self.q_1, 0.01), Polyak(self.q_2, 0.01)]
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        q_parameters = [*self.q_1.parameters(), *self.q_2.parameters()]
        self.q_optimizer = torch.optim.Adam(q_parameters, lr=1e-3)
        self.discount, self.temperature, self.lr_temperature = discount, temperature, lr_temperature
        self.entropy_target = -float(np.prod(space.shape))

    @torch.no_grad()
    def act(self, state):
        return self.policy(torch.from_numpy(state).unsqueeze(0))[0][0].numpy()

    def train(self, states, actions, rewards, next_states, terminated):
        with torch.no_grad():
            next_actions, next_log_probs = self.policy(next_states)
            next_values = torch.min(*(target(next_states, next_actions) for target in self.targets))
            next_values = next_values - self.temperature * next_log_probs
            q_targets = rewards + self.discount * (1 - terminated) * next_values
        q_loss = mse_loss(self.q_1(states, actions), q_targets) + mse_loss(
            self.q_2(states, actions), q_targets
        )
        self.q_optimizer.zero_grad()
        q_loss.backward()
        self.q_optimizer.step()

        new_actions, new_log_probs = self.policy(states)
        q_values = torch.min(self.q_1(states, new_actions), self.q_2(states, new_actions))
        policy_loss = (self.temperature * new_log_probs - q_values).mean()
        self.policy_optimizer.zero_grad()
        policy_loss.backward()
        self.policy_optimizer.step()

        for target in self.targets:
            target.update()
        gap = (new_log_probs.detach() + self.entropy_target).mean().item()
        self.temperature = max(0.0, self.temperature + self.lr_temperature * gap)
        return q_loss.item(), policy_loss.item()


def main():
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    env = gym.make("Pendulum-v1")
    agent, replay, losses = SAC(env.action_space), [], None
    state, _ = env.reset(seed=SEED)
    for frame in range(220):
        action = agent.act(state)
        next_state, reward, terminated, truncated, _ = env.step(action)
        replay.append((state, action, reward / 10.0, next_state, float(terminated)))
        state = env.reset()[0] if terminated or truncated else next_state
        if frame >= 80:
            columns = zip(*random.sample(replay, 64))
            losses = agent.train(*(torch.tensor(np.array(c), dtype=torch.float32) for c in columns))
    print("q loss, policy loss:", losses, "temperature:", agent.temperature)


if __name__ == "__main__":
    main()
