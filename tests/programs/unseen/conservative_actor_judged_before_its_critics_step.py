"""Offline conservative Q-learning in the manner of a trainer class: the policy's loss is formed at the top, the
critics take their step, and only then the policy's loss goes backward through them. After
aviralkumar2907/CQL#5.

Round 36
Class: the line
"""

import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

SEED = 3601
OBS_DIM, ACTION_DIM = 3, 2


def mlp(n_in, n_out, hidden=64):
    return nn.Sequential(
        nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, n_out)
    )


class TanhGaussianPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(OBS_DIM, 2 * ACTION_DIM)

    def forward(self, obs):
        mean, log_std = self.net(obs).chunk(2, dim=-1)
        normal = Normal(mean, log_std.clamp(-5, 2).exp())
        z = normal.rsample()
        action = torch.tanh(z)
        log_pi = normal.log_prob(z) - torch.log(1 - action.pow(2) + 1e-6)
        return action, log_pi.sum(dim=-1, keepdim=True)


class FlattenCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(OBS_DIM + ACTION_DIM, 1)

    def forward(self, obs, action):
        return self.net(torch.cat([obs, action], dim=-1))


def load_dataset(n=2000):
    """A puck on a table, pushed about at random; a push off the table ends the game."""
    rng = np.random.default_rng(SEED)
    rows, obs = [], None
    for _ in range(n):
        if obs is None:
            obs, t = np.array([*rng.uniform(-1, 1, 2), 0.0]), 0
        action = rng.uniform(-1, 1, ACTION_DIM)
        position = obs[:2] + 0.2 * action
        t += 1
        nxt = np.array([*position, t / 40])
        terminal = bool(np.abs(position).max() > 1.5)
        reward = -1.0 if terminal else 1.0 - float(np.abs(position).sum())
        rows.append((obs, action, reward, nxt, float(terminal)))
        obs = None if terminal or t == 40 else nxt
    o, a, r, n_, d = (np.array(x, dtype=np.float32) for x in zip(*rows))
    return {"obs": o, "actions": a, "rewards": r[:, None], "next_obs": n_, "terminals": d[:, None]}


class CQLTrainer:
    def __init__(self, discount=0.98, tau=0.01, alpha=0.1, min_q_weight=1.0, num_random=4):
        self.policy, self.qf1, self.qf2 = TanhGaussianPolicy(), FlattenCritic(), FlattenCritic()
        self.target_qf1, self.target_qf2 = copy.deepcopy(self.qf1), copy.deepcopy(self.qf2)
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.qf_optimizer = torch.optim.Adam([*self.qf1.parameters(), *self.qf2.parameters()], lr=3e-3)
        self.discount, self.tau, self.alpha = discount, tau, alpha
        self.min_q_weight, self.num_random = min_q_weight, num_random

    def conservative_penalty(self, qf, obs, actions, prediction):
        values = [qf(obs, torch.rand_like(actions) * 2 - 1) for _ in range(self.num_random)]
        for _ in range(self.num_random):
            with torch.no_grad():
                sampled, _ = self.policy(obs)
            values.append(qf(obs, sampled))
        return (torch.logsumexp(torch.cat(values, dim=1), dim=1, keepdim=True) - prediction).mean()

    def train(self, batch):
        obs, actions, next_obs = batch["obs"], batch["actions"], batch["next_obs"]

        new_actions, log_pi = self.policy(obs)
        q_new_actions = torch.min(self.qf1(obs, new_actions), self.qf2(obs, new_actions))  # BUG GS102
        policy_loss = (self.alpha * log_pi - q_new_actions).mean()

        q1_pred, q2_pred = self.qf1(obs, actions), self.qf2(obs, actions)
        with torch.no_grad():
            next_actions, next_log_pi = self.policy(next_obs)
            next_q = torch.min(
                self.target_qf1(next_obs, next_actions), self.target_qf2(next_obs, next_actions)
            )
            not_done = 1.0 - batch["terminals"]
            q_target = batch["rewards"] + not_done * self.discount * (next_q - self.alpha * next_log_pi)
        qf_loss = F.mse_loss(q1_pred, q_target) + F.mse_loss(q2_pred, q_target)
        qf_loss = qf_loss + self.min_q_weight * self.conservative_penalty(self.qf1, obs, actions, q1_pred)
        qf_loss = qf_loss + self.min_q_weight * self.conservative_penalty(self.qf2, obs, actions, q2_pred)

        self.qf_optimizer.zero_grad()
        qf_loss.backward()
        self.qf_optimizer.step()  # BUG GS102

        self.policy_optimizer.zero_grad()
        policy_loss.backward()  # BUG GS102
        self.policy_optimizer.step()

        with torch.no_grad():
            for online, target in ((self.qf1, self.target_qf1), (self.qf2, self.target_qf2)):
                for p, p_target in zip(online.parameters(), target.parameters()):
                    p_target.lerp_(p, self.tau)
        return qf_loss.item(), policy_loss.item()


if __name__ == "__main__":
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    dataset = load_dataset()
    trainer = CQLTrainer()
    for step in range(100):
        index = np.random.randint(len(dataset["obs"]), size=64)
        losses = trainer.train({k: torch.from_numpy(v[index]) for k, v in dataset.items()})
    print("qf {:.3f}, policy {:.3f}".format(*losses))
