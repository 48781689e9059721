"""Conservative Q-learning from a fixed log of a cart that a noisy controller drove to the middle of its rail.

Round 31
Class: the line
"""

import copy
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal


@dataclass
class Config:
    seed: int = 3101
    gamma: float = 0.97
    tau: float = 0.01
    alpha: float = 0.1
    min_q_weight: float = 1.0
    num_random: int = 4
    batch_size: int = 64
    updates: int = 120


def record_log(rng, episodes=40, horizon=50):
    """Transitions of (position, speed) under a clumsy controller; leaving the rail ends an episode."""
    rows = []
    for _ in range(episodes):
        x, v = rng.uniform(-1, 1), rng.uniform(-0.5, 0.5)
        for _ in range(horizon):
            a = np.clip(-0.8 * x - 0.5 * v + 0.6 * rng.normal(), -1, 1)
            v2 = 0.95 * v + 0.2 * a
            x2 = x + 0.2 * v2
            terminated = abs(x2) > 2.0
            reward = -(x2**2) - 0.05 * a**2 - 5.0 * terminated
            rows.append((x, v, a, reward, x2, v2, float(terminated)))
            x, v = x2, v2
            if terminated:
                break
    return torch.tensor(np.array(rows), dtype=torch.float32)


def mlp(inputs, outputs, width=48):
    return nn.Sequential(
        nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, outputs)
    )


class TanhPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(2, 2)

    def forward(self, obs):
        mean, log_std = self.net(obs).chunk(2, dim=-1)
        normal = Normal(mean, log_std.clamp(-4, 1).exp())
        u = normal.rsample()
        correction = 2 * (np.log(2) - u - F.softplus(-2 * u))
        return torch.tanh(u), (normal.log_prob(u) - correction).sum(-1, keepdim=True)


class QFunction(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(3, 1)

    def forward(self, obs, action):
        return self.net(torch.cat([obs, action], dim=-1))


class CQLTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.policy = TanhPolicy()
        self.qfs = nn.ModuleList([QFunction(), QFunction()])
        self.target_qfs = copy.deepcopy(self.qfs).requires_grad_(False)
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=3e-4)
        self.qf_optimizer = torch.optim.Adam(self.qfs.parameters(), lr=1e-3)

    @torch.no_grad()
    def proposals(self, obs):
        n = self.cfg.num_random
        repeated = obs.repeat_interleave(n, dim=0)
        random = torch.rand(len(repeated), 1) * 2 - 1
        current, log_pi = self.policy(repeated)
        density = torch.cat([torch.full_like(log_pi, np.log(0.5)).view(-1, n), log_pi.view(-1, n)], dim=1)
        return repeated, random, current, density

    def conservative_gap(self, qf, q_data, repeated, random, current, density):
        n = self.cfg.num_random
        q_all = torch.cat([qf(repeated, random).view(-1, n), qf(repeated, current).view(-1, n)], dim=1)
        return torch.logsumexp(q_all - density, dim=1).mean() - q_data.mean()

    def train_step(self, obs, action, reward, next_obs, terminated):
        cfg = self.cfg
        with torch.no_grad():
            next_action, _ = self.policy(next_obs)
            q_next = torch.min(*(target(next_obs, next_action) for target in self.target_qfs))
            q_target = reward + cfg.gamma * (1 - terminated) * q_next
        candidates = self.proposals(obs)
        qf_loss = torch.zeros(())
        for qf in self.qfs:
            q_data = qf(obs, action)
            gap = self.conservative_gap(qf, q_data, *candidates)
            qf_loss = qf_loss + F.mse_loss(q_data, q_target) + cfg.min_q_weight * gap

        self.qf_optimizer.zero_grad()
        qf_loss.backward()
        self.qf_optimizer.step()

        new_action, log_pi = self.policy(obs)
        q_new = torch.min(self.qfs[0](obs, new_action), self.qfs[1](obs, new_action))
        policy_loss = (cfg.alpha * log_pi - q_new).mean()
        self.policy_optimizer.zero_grad()
        policy_loss.backward()
        self.policy_optimizer.step()

        with torch.no_grad():
            for p, t in zip(self.qfs.parameters(), self.target_qfs.parameters()):
                t.lerp_(p, cfg.tau)
        return qf_loss.item(), policy_loss.item()


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    log = record_log(np.random.default_rng(cfg.seed))
    trainer = CQLTrainer(cfg)
    for update in range(cfg.updates):
        rows = log[torch.randint(len(log), (cfg.batch_size,))]
        obs, action, reward, next_obs, terminated = rows.split([2, 1, 1, 2, 1], dim=1)
        qf_loss, policy_loss = trainer.train_step(obs, action, reward, next_obs, terminated)
        if update % 40 == 0:
            print(f"{update}: critics {qf_loss:.3f}, policy {policy_loss:.3f}")


if __name__ == "__main__":
    main()
