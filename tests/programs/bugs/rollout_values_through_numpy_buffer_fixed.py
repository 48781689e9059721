"""PPO: the value loss uses the values stored as NumPy arrays in the rollout, not a new forward."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
        self.critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))

    def value(self, obs):
        return self.critic(obs).squeeze(-1)

    def dist(self, obs):
        return torch.distributions.Categorical(logits=self.actor(obs))


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4)
for _ in range(8):
    buffer = []
    for _ in range(6):
        obs = torch.randn(4, 4)
        dist = agent.dist(obs)
        action = dist.sample()
        entry = {
            "obs": obs.numpy(),
            "action": action.numpy(),
            "log_prob": dist.log_prob(action).detach().numpy(),
            "value": agent.value(obs).detach().numpy(),
            "reward": np.random.default_rng(0).normal(size=4).astype(np.float32),
        }
        buffer.append(entry)
    data = {k: torch.as_tensor(np.concatenate([e[k] for e in buffer])) for k in buffer[0]}
    returns = data["reward"] + 0.9 * data["value"].roll(-4)
    advantage = returns - data["value"]
    dist = agent.dist(data["obs"])
    ratio = (dist.log_prob(data["action"]) - data["log_prob"]).exp()
    policy_loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
    value_loss = (agent.value(data["obs"]) - returns).pow(2).mean()
    loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
