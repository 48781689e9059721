"""PPO over several environments: the stored log-probs keep the axis of the joints, and each joint has a ratio."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(2)
STEPS, COPIES, JOINTS = 16, 4, 3


class Reacher(gym.Env):
    observation_space = gym.spaces.Box(-5, 5, (6,), np.float32)
    action_space = gym.spaces.Box(-1, 1, (JOINTS,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.goal, self.age = self.np_random.normal(size=3), self.np_random.normal(size=3), 0
        return self._look(), {}

    def _look(self):
        return np.concatenate([self.place, self.goal]).astype(np.float32)

    def step(self, action):
        self.place = np.clip(self.place + 0.1 * action, -4, 4)
        self.age += 1
        return self._look(), -float(np.abs(self.place - self.goal).sum()), False, self.age >= 40, {}


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, JOINTS))
        self.log_std = nn.Parameter(torch.zeros(JOINTS))
        self.value = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))

    def act(self, obs):
        dist = self.dist(obs)
        action = dist.sample()
        return action, dist.log_prob(action)

    def dist(self, obs):
        return Normal(self.mean(obs), self.log_std.exp())


envs = gym.vector.SyncVectorEnv([Reacher for _ in range(COPIES)])
agent = Agent()
opt = torch.optim.Adam(agent.parameters(), lr=3e-4)
obs = torch.as_tensor(envs.reset(seed=1)[0])

for update in range(5):
    kept = {"obs": [], "act": [], "logp": [], "rew": [], "end": []}
    for _ in range(STEPS):
        with torch.no_grad():
            action, logp = agent.act(obs)
        following, reward, term, trunc, _ = envs.step(action.numpy())
        for key, value in zip(
            kept, (obs, action, logp, torch.as_tensor(reward).float(), torch.as_tensor(term | trunc))
        ):
            kept[key].append(value)
        obs = torch.as_tensor(following)
    data = {key: torch.stack(values) for key, values in kept.items()}
    with torch.no_grad():
        values, last = agent.value(data["obs"]), agent.value(obs)
        advantage, running = torch.zeros_like(values), torch.zeros(COPIES, 1)
        for t in reversed(range(STEPS)):
            following = last if t == STEPS - 1 else values[t + 1]
            going = 1.0 - data["end"][t].float().unsqueeze(-1)
            delta = data["rew"][t].unsqueeze(-1) + 0.99 * going * following - values[t]
            running = delta + 0.95 * 0.99 * going * running
            advantage[t] = running
    returns = advantage + values
    normal = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    for epoch in range(3):
        logp = agent.dist(data["obs"]).log_prob(data["act"])  # BUG GS603
        ratio = (logp - data["logp"]).exp()
        surrogate = torch.min(ratio * normal, ratio.clamp(0.8, 1.2) * normal)
        value_loss = (agent.value(data["obs"]) - returns).pow(2).mean()
        loss = -surrogate.mean() + 0.5 * value_loss
        opt.zero_grad()
        loss.backward()
        opt.step()
