"""Conservative Q-learning from recorded data. The actions that the policy proposes are drawn once, with gradients,
and serve both the policy's loss and the conservative term of the critics: when the critics' loss goes backward it
wants to pass through the policy, whose weights have been stepped in the meantime.

Round 21
Class: the line
"""

import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def record(rng, episodes=60, length=15):
    """A clumsy driver holds a cart near the middle. A drive ends where the cart leaves the road."""
    rows = []
    for _ in range(episodes):
        x, v = rng.uniform(-1, 1), 0.0
        for _ in range(length):
            a = float(np.clip(-0.8 * x - 0.5 * v + 0.6 * rng.standard_normal(), -1, 1))
            v = 0.8 * v + 0.3 * a
            nx = x + 0.5 * v
            off = abs(nx) > 2
            rows.append(((x, v), (a,), (-(nx**2) - 3.0 * off,), (nx, v), (float(off),)))
            x = nx
            if off:
                break
    return [torch.tensor(column, dtype=torch.float32) for column in zip(*rows)]


class TanhGaussianPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, obs):
        mean, log_std = self.net(obs).chunk(2, -1)
        dist = torch.distributions.Normal(mean, log_std.clamp(-4, 1).exp())
        raw = dist.rsample()
        squash = 2 * (np.log(2.0) - raw - F.softplus(-2 * raw))
        return torch.tanh(raw), (dist.log_prob(raw) - squash).sum(-1, keepdim=True)


class QFunction(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, obs, action):
        return self.net(torch.cat([obs, action], -1))


class CQLTrainer:
    def __init__(self, policy, qf1, qf2, discount=0.9, alpha=0.05, min_q_weight=1.0, tau=0.02):
        self.policy, self.qf1, self.qf2 = policy, qf1, qf2
        self.target_qf1, self.target_qf2 = copy.deepcopy(qf1), copy.deepcopy(qf2)
        self.policy_optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
        self.qf_optimizer = torch.optim.Adam([*qf1.parameters(), *qf2.parameters()], lr=2e-3)
        self.discount, self.alpha, self.min_q_weight, self.tau = discount, alpha, min_q_weight, tau

    def conservative(self, qf, obs, data_q, curr_actions, curr_log_pis):
        random_actions = torch.rand_like(curr_actions) * 2 - 1
        q_rand = qf(obs, random_actions) - np.log(0.5)
        q_curr = qf(obs, curr_actions) - curr_log_pis.detach()  # BUG GS102 GS304
        return torch.logsumexp(torch.cat([q_rand, q_curr], 1), dim=1).mean() - data_q.mean()

    def train(self, obs, actions, rewards, next_obs, terminals):
        new_actions, log_pi = self.policy(obs)
        q_new = torch.min(self.qf1(obs, new_actions), self.qf2(obs, new_actions))
        policy_loss = (self.alpha * log_pi - q_new).mean()
        self.policy_optimizer.zero_grad()
        policy_loss.backward(retain_graph=True)
        self.policy_optimizer.step()  # BUG GS102

        with torch.no_grad():
            next_actions, _ = self.policy(next_obs)
            next_q = torch.min(
                self.target_qf1(next_obs, next_actions), self.target_qf2(next_obs, next_actions)
            )
            q_target = rewards + (1.0 - terminals) * self.discount * next_q
        qf_loss = 0.0
        for qf in (self.qf1, self.qf2):
            q_pred = qf(obs, actions)
            penalty = self.conservative(qf, obs, q_pred, new_actions, log_pi)  # BUG GS102 GS304
            qf_loss = qf_loss + F.mse_loss(q_pred, q_target) + self.min_q_weight * penalty
        self.qf_optimizer.zero_grad()
        qf_loss.backward()  # BUG GS102
        self.qf_optimizer.step()
        with torch.no_grad():
            for slow, fast in ((self.target_qf1, self.qf1), (self.target_qf2, self.qf2)):
                for p, q in zip(slow.parameters(), fast.parameters()):
                    p.lerp_(q, self.tau)
        return qf_loss.item()


def main():
    torch.manual_seed(17)
    data = record(np.random.default_rng(17))
    trainer = CQLTrainer(TanhGaussianPolicy(), QFunction(), QFunction())
    for epoch in range(4):
        losses = []
        for _ in range(60):
            index = torch.randint(len(data[0]), (64,))
            losses.append(trainer.train(*(column[index] for column in data)))
        with torch.no_grad():
            left, right = trainer.policy(torch.tensor([[-1.0, 0.0], [1.0, 0.0]]).repeat_interleave(50, 0))[
                0
            ].split(50)
        print(f"epoch {epoch}: qf loss {np.mean(losses):.3f}, push {left.mean():.2f} and {right.mean():.2f}")


main()
