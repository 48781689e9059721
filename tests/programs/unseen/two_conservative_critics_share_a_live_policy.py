"""Conservative Q-learning with an optimizer for each critic: the actions that are pushed down come from the policy with
their graph, both critics' losses hang on it, and the second backward raises. People add retain_graph=True to the
first and train the policy's graph along. yihaosun1124/OfflineRL-Kit#15.

Round 25
Class: the line
"""

import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal

torch.manual_seed(2520)
rng = np.random.default_rng(2520)
OBS, ACT, GAMMA, TAU, ALPHA, CQL_WEIGHT, REPEAT = 3, 1, 0.95, 0.01, 0.1, 1.0, 4


def make_dataset(n=1500):
    """A careless driver on a slope, in transitions."""
    rows, x = [], rng.normal(size=OBS)
    for _ in range(n):
        action = np.clip(-0.5 * x[:1] + rng.normal(size=ACT) * 0.5, -1, 1)
        nxt = 0.9 * x + np.array([0.4, 0.2, -0.3]) * action + 0.05 * rng.normal(size=OBS)
        done = bool(np.abs(nxt).max() > 2.5)
        rows.append((x, action, [-np.square(nxt).sum() - 3.0 * done], nxt, [done]))
        x = rng.normal(size=OBS) if done or rng.random() < 0.03 else nxt
    return [torch.from_numpy(np.array(c, dtype=np.float32)) for c in zip(*rows)]


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, n_out))


class TanhActor(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = mlp(OBS, 2 * ACT)

    def forward(self, obs):
        mean, log_std = self.backbone(obs).chunk(2, dim=-1)
        dist = Normal(mean, log_std.clamp(-5, 2).exp())
        raw = dist.rsample()
        action = torch.tanh(raw)
        log_prob = dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)
        return action, log_prob.sum(-1, keepdim=True)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(OBS + ACT, 1)

    def forward(self, obs, action):
        return self.net(torch.cat([obs, action], -1))


class CQLPolicy:
    def __init__(self):
        self.actor, self.critic1, self.critic2 = TanhActor(), Critic(), Critic()
        self.critic1_old, self.critic2_old = copy.deepcopy(self.critic1), copy.deepcopy(self.critic2)
        self.actor_optim = torch.optim.Adam(self.actor.parameters(), lr=1e-4)
        self.critic1_optim = torch.optim.Adam(self.critic1.parameters(), lr=3e-4)
        self.critic2_optim = torch.optim.Adam(self.critic2.parameters(), lr=3e-4)

    def conservative(self, critic, obs, data_q, pi_actions, pi_log_probs):
        wide = obs.unsqueeze(1).expand(-1, REPEAT, -1)
        random = torch.rand(len(obs), REPEAT, ACT) * 2 - 1
        q_random = critic(wide, random) - np.log(0.5**ACT)
        q_policy = critic(wide, pi_actions) - pi_log_probs.detach()
        return CQL_WEIGHT * (torch.logsumexp(torch.cat([q_random, q_policy], 1), 1).mean() - data_q.mean())

    def learn(self, obs, actions, rewards, next_obs, terminals):
        with torch.no_grad():
            next_actions, next_log_probs = self.actor(next_obs)
            next_q = torch.min(
                self.critic1_old(next_obs, next_actions), self.critic2_old(next_obs, next_actions)
            )
            target_q = rewards + GAMMA * (1 - terminals) * (next_q - ALPHA * next_log_probs)
        wide = obs.unsqueeze(1).expand(-1, REPEAT, -1)
        pi_actions, pi_log_probs = self.actor(wide)  # BUG GS402 GS304
        q1, q2 = self.critic1(obs, actions), self.critic2(obs, actions)
        critic1_loss = F.mse_loss(q1, target_q) + self.conservative(
            self.critic1, obs, q1, pi_actions, pi_log_probs
        )
        critic2_loss = F.mse_loss(q2, target_q) + self.conservative(
            self.critic2, obs, q2, pi_actions, pi_log_probs
        )
        self.critic1_optim.zero_grad()
        critic1_loss.backward()  # BUG GS402
        self.critic1_optim.step()
        self.critic2_optim.zero_grad()
        critic2_loss.backward()  # BUG GS402
        self.critic2_optim.step()

        new_actions, log_probs = self.actor(obs)
        q_new = torch.min(self.critic1(obs, new_actions), self.critic2(obs, new_actions))
        actor_loss = (ALPHA * log_probs - q_new).mean()
        self.actor_optim.zero_grad()
        actor_loss.backward()
        self.actor_optim.step()
        for net, old in ((self.critic1, self.critic1_old), (self.critic2, self.critic2_old)):
            for p, o in zip(net.parameters(), old.parameters()):
                o.data.mul_(1 - TAU).add_(p.data, alpha=TAU)


dataset, policy = make_dataset(), CQLPolicy()
for _ in range(60):
    index = torch.from_numpy(rng.integers(len(dataset[0]), size=64))
    policy.learn(*(column[index] for column in dataset))
