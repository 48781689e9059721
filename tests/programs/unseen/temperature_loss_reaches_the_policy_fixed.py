"""Soft actor-critic with a learned temperature. The temperature's loss is made of the log-probabilities as they are,
and goes backward together with the policy's, where it takes back what the entropy term asked for.
Repaired here.

Round 18
Class: weights
"""

import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

TIMESTEPS, LEARNING_STARTS, BATCH, GAMMA, TAU, LR = 160, 64, 48, 0.95, 0.01, 1e-3


class Reacher:
    """Eight arms in parallel, two joints each."""

    num_envs, obs_dim, act_dim = 8, 4, 2

    def __init__(self, rng):
        self.rng = rng
        self.arm, self.goal = rng.uniform(-1, 1, (8, 2)), rng.uniform(-1, 1, (8, 2))

    def obs(self):
        return np.concatenate([self.arm, self.goal], 1).astype(np.float32)

    def step(self, action):
        self.arm = np.clip(self.arm + 0.2 * action, -1, 1)
        gap = np.linalg.norm(self.arm - self.goal, axis=1)
        done = gap < 0.15
        after = self.obs()
        self.goal[done] = self.rng.uniform(-1, 1, (int(done.sum()), 2))
        return after, (-gap).astype(np.float32), done.astype(np.float32)


class SoftQNetwork(nn.Module):
    def __init__(self, env):
        super().__init__()
        self.fc1 = nn.Linear(env.obs_dim + env.act_dim, 64)
        self.fc2 = nn.Linear(64, 1)

    def forward(self, x, a):
        return self.fc2(F.relu(self.fc1(torch.cat([x, a], 1)))).view(-1)


class Actor(nn.Module):
    def __init__(self, env):
        super().__init__()
        self.fc1 = nn.Linear(env.obs_dim, 64)
        self.fc_mean, self.fc_logstd = nn.Linear(64, env.act_dim), nn.Linear(64, env.act_dim)

    def get_action(self, x):
        x = F.relu(self.fc1(x))
        log_std = -5 + 0.5 * (2 + 5) * (torch.tanh(self.fc_logstd(x)) + 1)
        normal = torch.distributions.Normal(self.fc_mean(x), log_std.exp())
        x_t = normal.rsample()
        y_t = torch.tanh(x_t)
        log_prob = normal.log_prob(x_t) - torch.log(1 - y_t.pow(2) + 1e-6)
        return y_t, log_prob.sum(1)


torch.manual_seed(1815)
rng = np.random.default_rng(1815)
env = Reacher(rng)
actor, qf1, qf2 = Actor(env), SoftQNetwork(env), SoftQNetwork(env)
qf1_target, qf2_target = copy.deepcopy(qf1), copy.deepcopy(qf2)
q_optimizer = optim.Adam([*qf1.parameters(), *qf2.parameters()], lr=LR)
actor_optimizer = optim.Adam(actor.parameters(), lr=LR)
target_entropy = -float(env.act_dim)
log_alpha = torch.zeros(1, requires_grad=True)
a_optimizer = optim.Adam([log_alpha], lr=LR)

storage = []
obs = env.obs()
for global_step in range(TIMESTEPS):
    with torch.no_grad():
        actions = actor.get_action(torch.from_numpy(obs))[0].numpy()
    next_obs, rewards, dones = env.step(actions)
    storage += zip(obs, actions, rewards, next_obs, dones)
    obs = env.obs()
    if global_step < LEARNING_STARTS:
        continue

    picked = [storage[i] for i in rng.integers(len(storage), size=BATCH)]
    b_obs, b_actions, b_rewards, b_next, b_dones = (torch.tensor(np.array(x)) for x in zip(*picked))
    alpha = log_alpha.exp().item()
    with torch.no_grad():
        next_actions, next_log_pi = actor.get_action(b_next)
        min_next = torch.min(qf1_target(b_next, next_actions), qf2_target(b_next, next_actions))
        next_q_value = b_rewards + (1 - b_dones) * GAMMA * (min_next - alpha * next_log_pi)
    qf_loss = F.mse_loss(qf1(b_obs, b_actions), next_q_value) + F.mse_loss(
        qf2(b_obs, b_actions), next_q_value
    )
    q_optimizer.zero_grad()
    qf_loss.backward()
    q_optimizer.step()

    pi, log_pi = actor.get_action(b_obs)
    actor_loss = (alpha * log_pi - torch.min(qf1(b_obs, pi), qf2(b_obs, pi))).mean()
    alpha_loss = (-log_alpha.exp() * (log_pi.detach() + target_entropy)).mean()
    actor_optimizer.zero_grad()
    a_optimizer.zero_grad()
    (actor_loss + alpha_loss).backward()
    actor_optimizer.step()
    a_optimizer.step()

    with torch.no_grad():
        for net, slow in ((qf1, qf1_target), (qf2, qf2_target)):
            for param, target_param in zip(net.parameters(), slow.parameters()):
                target_param.copy_(TAU * param + (1 - TAU) * target_param)
print(qf_loss.item(), actor_loss.item(), log_alpha.exp().item())
