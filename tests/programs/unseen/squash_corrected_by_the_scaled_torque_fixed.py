"""The torque of Pendulum is the squashed action times two, and the correction of its density is taken of the torque:
the logarithm of a negative number.
Repaired here.

Round 22
Class: magnitude
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal


class SoftPolicy(nn.Module):
    def __init__(self, space):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))
        self.tanh_scale = float((space.high - space.low)[0] / 2)

    def forward(self, states):
        loc, log_scale = self.model(states).split(1, dim=1)
        raw = Normal(loc, log_scale.clamp(-4, 1).exp())
        x = raw.rsample()
        squashed = torch.tanh(x)
        action = squashed * self.tanh_scale
        log_prob = raw.log_prob(x)
        log_prob = log_prob - torch.log(1 - squashed.pow(2) + 1e-6)
        return action, log_prob.sum(dim=1)


def main():
    torch.manual_seed(2210)
    env = gym.make("Pendulum-v1")
    state, _ = env.reset(seed=2210)
    policy = SoftPolicy(env.action_space)
    q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
    q_slow = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
    q_slow.load_state_dict(q.state_dict())
    pi_opt, q_opt = torch.optim.Adam(policy.parameters(), 5e-4), torch.optim.Adam(q.parameters(), 1e-3)
    replay = []
    for step in range(220):
        action = env.action_space.sample()
        following, reward, terminated, truncated, _ = env.step(action)
        replay.append((state, action, reward / 8, following, terminated))
        state = env.reset()[0] if terminated or truncated else following
        if step < 60 or step % 4:
            continue
        chosen = np.random.default_rng(step).integers(0, len(replay), 32)
        columns = [np.stack([np.asarray(replay[i][c], dtype=np.float32) for i in chosen]) for c in range(5)]
        s, a, r, s2, end = (torch.from_numpy(c) for c in columns)
        with torch.no_grad():
            a2, logp2 = policy(s2)
            v2 = q_slow(torch.cat([s2, a2], 1)).squeeze(1) - 0.05 * logp2
            y = r + 0.95 * (1 - end) * v2
        q_loss = nn.functional.mse_loss(q(torch.cat([s, a], 1)).squeeze(1), y)
        q_opt.zero_grad()
        q_loss.backward()
        q_opt.step()
        fresh, logp = policy(s)
        pi_loss = (0.05 * logp - q(torch.cat([s, fresh], 1)).squeeze(1)).mean()
        pi_opt.zero_grad()
        pi_loss.backward()
        pi_opt.step()
        with torch.no_grad():
            for slow, fast in zip(q_slow.parameters(), q.parameters()):
                slow.lerp_(fast, 0.02)
    print(q_loss.item(), pi_loss.item())


main()
