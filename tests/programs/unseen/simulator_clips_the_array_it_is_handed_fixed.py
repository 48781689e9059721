"""An online deterministic actor-critic: the simulator clips the array of the actions in place, and the array is the
memory of the squashed output whose slope the actor's backward needs.
Repaired here.

Round 12
Class: hidden writes
"""

import numpy as np
import torch
from torch import nn

torch.manual_seed(1210)


class Arms:
    """Some arms at once, pushed towards the origin with a limited torque."""

    TORQUE = 0.25

    def __init__(self, count, seed):
        self.rng = np.random.default_rng(seed)
        self.state = self.rng.normal(size=(count, 4)).astype(np.float32)

    def step(self, action):
        action = np.clip(action, -self.TORQUE, self.TORQUE)
        noise = 0.2 * self.rng.normal(size=self.state.shape)
        self.state = (0.95 * self.state + np.tile(action, 2) + noise).astype(np.float32)
        return self.state.copy(), -np.square(self.state).mean(1)


class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=3e-3)

    def q(self, obs, action):
        return self.critic(torch.cat([obs, action], 1)).squeeze(1)

    def live_through(self, env, obs):
        action = self.actor(obs)
        gain = self.q(obs, action).mean()
        state, reward = env.step(action.detach().numpy())
        self.actor_opt.zero_grad()
        (-gain).backward()
        self.actor_opt.step()
        after, reward = torch.from_numpy(state), torch.from_numpy(reward)
        with torch.no_grad():
            goal = reward + 0.9 * self.q(after, self.actor(after))
        error = self.q(obs, action.detach().clamp(-Arms.TORQUE, Arms.TORQUE)) - goal
        self.critic_opt.zero_grad()
        error.pow(2).mean().backward()
        self.critic_opt.step()
        return after


agent, env = Agent(), Arms(16, 1210)
obs = torch.from_numpy(env.state.copy())
for step in range(60):
    obs = agent.live_through(env, obs)
print("spread", obs.abs().mean().item())
