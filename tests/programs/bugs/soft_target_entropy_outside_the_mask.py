"""SAC with copies of the environment side by side: the entropy of the next action is taken after the end, too."""

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import nn


class Slide(gym.Env):
    """Keep a sliding point near zero; it is over when it is far away."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (3,), np.float32)
    action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = self.np_random.normal(0.0, 0.5, size=3).astype(np.float32)
        return self.state.copy(), {}

    def step(self, action):
        push = self.np_random.normal(0.0, 0.6, size=3)
        self.state = (self.state + push + 0.2 * action[0]).astype(np.float32)
        terminated = bool(abs(self.state).max() > 2.0)
        return self.state.copy(), -float(abs(self.state).sum()), terminated, False, {}


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, obs):
        mean, log_std = self.body(obs).chunk(2, -1)
        normal = torch.distributions.Normal(mean, log_std.clamp(-5, 2).exp())
        raw = normal.rsample()
        action = torch.tanh(raw)
        return action, (normal.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)).sum(-1)


def critic():
    return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))


torch.manual_seed(0)
rng = np.random.default_rng(0)
envs = SyncVectorEnv([Slide for _ in range(4)], autoreset_mode=AutoresetMode.SAME_STEP)
actor, q, q_target, alpha, gamma = Actor(), critic(), critic(), 0.2, 0.99
q_target.load_state_dict(q.state_dict())
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
q_optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
replay = []
obs, _ = envs.reset(seed=0)
for step in range(70):
    with torch.no_grad():
        actions = actor(torch.as_tensor(obs))[0].numpy()
    next_obs, rewards, terminations, truncations, infos = envs.step(actions)
    real_next = next_obs.copy()
    for i in np.flatnonzero(terminations | truncations):
        real_next[i] = infos["final_obs"][i]
    replay += zip(obs, actions, rewards, real_next, terminations, strict=True)
    obs = next_obs
    if step < 40 or step % 3:
        continue
    chosen = [replay[i] for i in rng.choice(len(replay), 64, replace=False)]
    s, a, r, s2, done = (torch.as_tensor(np.stack(part)).float() for part in zip(*chosen, strict=True))
    with torch.no_grad():
        next_action, next_log_prob = actor(s2)
        next_q = q_target(torch.cat([s2, next_action], -1)).squeeze(-1)
        y = r + gamma * (1 - done) * next_q - gamma * alpha * next_log_prob  # BUG GS805
    q_loss = (q(torch.cat([s, a], -1)).squeeze(-1) - y).pow(2).mean()
    q_optimizer.zero_grad()
    q_loss.backward()
    q_optimizer.step()
    new_action, log_prob = actor(s)
    actor_loss = (alpha * log_prob - q(torch.cat([s, new_action], -1)).squeeze(-1)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(q_target.parameters(), q.parameters(), strict=True):
            slow.lerp_(fast, 0.05)
