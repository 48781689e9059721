"""A squashed policy stretches its action to the range of the environment and corrects the density with the stretched
Repaired here.
action: beyond one the logarithm is taken of a negative number.

Round 14
Class: magnitude
"""

import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal

EPSILON = 1e-6


class Arm:
    low, high = np.array([-2.0, -1.5], dtype=np.float32), np.array([2.0, 1.5], dtype=np.float32)

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.state, self.time = self.rng.normal(size=4).astype(np.float32), 0
        return self.state

    def step(self, action):
        self.time += 1
        error = self.state[:2] - 0.5 * action
        self.state = (0.8 * self.state + 0.2 * self.rng.normal(size=4)).astype(np.float32)
        return self.state, -float(error @ error), self.time >= 25


class GaussianPolicy(nn.Module):
    def __init__(self, states, actions, low, high):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(states, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.mean, self.log_std = nn.Linear(32, actions), nn.Linear(32, actions)
        self.register_buffer("scale", torch.as_tensor((high - low) / 2))
        self.register_buffer("bias", torch.as_tensor((high + low) / 2))

    def forward(self, state):
        hidden = self.trunk(state)
        return self.mean(hidden), self.log_std(hidden).clamp(-10, 2)

    def sample(self, state):
        mean, log_std = self(state)
        normal = Normal(mean, log_std.exp())
        x_t = normal.rsample()
        y_t = torch.tanh(x_t)
        action = y_t * self.scale + self.bias
        log_prob = normal.log_prob(x_t)
        log_prob = log_prob - torch.log(self.scale * (1 - y_t.pow(2)) + EPSILON)
        return action, log_prob.sum(1, keepdim=True)


class TwinQ(nn.Module):
    def __init__(self, states, actions):
        super().__init__()
        self.q1, self.q2 = (
            nn.Sequential(nn.Linear(states + actions, 32), nn.ReLU(), nn.Linear(32, 1)) for _ in range(2)
        )

    def forward(self, state, action):
        both = torch.cat([state, action], 1)
        return self.q1(both), self.q2(both)


class SAC:
    gamma, tau, alpha = 0.95, 0.01, 0.1

    def __init__(self, env):
        self.policy, self.critic = GaussianPolicy(4, 2, env.low, env.high), TwinQ(4, 2)
        self.critic_target = copy.deepcopy(self.critic)
        self.policy_optim = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    @torch.no_grad()
    def select_action(self, state):
        return self.policy.sample(torch.as_tensor(state)[None])[0][0].numpy()

    def update(self, state, action, reward, following, mask):
        with torch.no_grad():
            next_action, next_log_pi = self.policy.sample(following)
            next_q = torch.min(*self.critic_target(following, next_action)) - self.alpha * next_log_pi
            target = reward + mask * self.gamma * next_q
        q1, q2 = self.critic(state, action)
        critic_loss = F.mse_loss(q1, target) + F.mse_loss(q2, target)
        self.critic_optim.zero_grad()
        critic_loss.backward()
        self.critic_optim.step()
        self.critic.requires_grad_(False)
        pi, log_pi = self.policy.sample(state)
        policy_loss = (self.alpha * log_pi - torch.min(*self.critic(state, pi))).mean()
        self.policy_optim.zero_grad()
        policy_loss.backward()
        self.policy_optim.step()
        self.critic.requires_grad_(True)
        with torch.no_grad():
            for slow, fast in zip(self.critic_target.parameters(), self.critic.parameters(), strict=True):
                slow.lerp_(fast, self.tau)
        return critic_loss.item(), policy_loss.item()


torch.manual_seed(1405)
env, rng, memory = Arm(5), np.random.default_rng(6), []
agent, state = SAC(env), env.reset()
for step in range(200):
    action = agent.select_action(state) if step > 80 else rng.uniform(env.low, env.high).astype(np.float32)
    following, reward, late = env.step(action)
    memory.append((state, action, [reward], following, [1.0]))
    state = env.reset() if late else following
    if step > 80:
        rows = [memory[i] for i in rng.integers(len(memory), size=32)]
        losses = agent.update(
            *(torch.tensor(np.array(c), dtype=torch.float32) for c in zip(*rows, strict=True))
        )
print(losses)
