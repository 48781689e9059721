"""Soft actor-critic that clears both optimizers, sends both losses backward and then steps both: the actor's backward has
put its own gradient into the critics, and the critics' step takes it along. pytorch/rl#1187 (TD3 mixes actor and
critic gradients).

Round 25
Class: the line
"""

import copy

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED, GAMMA, TAU, ALPHA, BATCH = 2515, 0.98, 0.01, 0.1, 64
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)


class SoftQNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(4, 64), nn.Linear(64, 64), nn.Linear(64, 1)

    def forward(self, x, a):
        x = F.relu(self.fc1(torch.cat([x, a], 1)))
        return self.fc3(F.relu(self.fc2(x)))


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(3, 64), nn.Linear(64, 64)
        self.fc_mean, self.fc_logstd = nn.Linear(64, 1), nn.Linear(64, 1)

    def forward(self, x):
        x = F.relu(self.fc2(F.relu(self.fc1(x))))
        log_std = -5 + 0.5 * 7 * (torch.tanh(self.fc_logstd(x)) + 1)
        return self.fc_mean(x), log_std

    def get_action(self, x):
        mean, log_std = self(x)
        normal = torch.distributions.Normal(mean, log_std.exp())
        x_t = normal.rsample()
        action = torch.tanh(x_t)
        log_prob = normal.log_prob(x_t) - torch.log(1 - action.pow(2) + 1e-6)
        return action, log_prob.sum(1, keepdim=True)


env = gym.make("Pendulum-v1")
actor, qf1, qf2 = Actor(), SoftQNetwork(), SoftQNetwork()
qf1_target, qf2_target = copy.deepcopy(qf1), copy.deepcopy(qf2)
q_optimizer = torch.optim.Adam([*qf1.parameters(), *qf2.parameters()], lr=1e-3)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=3e-4)
replay = []
obs, _ = env.reset(seed=SEED)
for global_step in range(300):
    with torch.no_grad():
        action = actor.get_action(torch.from_numpy(obs)[None])[0][0].numpy()
    next_obs, reward, terminated, truncated, _ = env.step(2 * action)
    replay.append((obs, action, [reward / 8], next_obs, [terminated]))
    obs = env.reset()[0] if terminated or truncated else next_obs
    if global_step < 180:
        continue

    rows = [replay[i] for i in rng.integers(len(replay), size=BATCH)]
    s, a, r, s2, d = (torch.from_numpy(np.array(x, dtype=np.float32)) for x in zip(*rows))
    with torch.no_grad():
        next_action, next_log_pi = actor.get_action(s2)
        min_next = torch.min(qf1_target(s2, next_action), qf2_target(s2, next_action))
        next_q_value = r + (1 - d) * GAMMA * (min_next - ALPHA * next_log_pi)
    qf_loss = F.mse_loss(qf1(s, a), next_q_value) + F.mse_loss(qf2(s, a), next_q_value)
    pi, log_pi = actor.get_action(s)
    min_qf_pi = torch.min(qf1(s, pi), qf2(s, pi))  # BUG GS304
    actor_loss = (ALPHA * log_pi - min_qf_pi).mean()  # BUG GS304

    q_optimizer.zero_grad()
    actor_optimizer.zero_grad()
    qf_loss.backward()
    actor_loss.backward()  # BUG GS304
    q_optimizer.step()  # BUG GS304
    actor_optimizer.step()

    with torch.no_grad():
        for net, target in ((qf1, qf1_target), (qf2, qf2_target)):
            for param, target_param in zip(net.parameters(), target.parameters()):
                target_param.copy_(TAU * param + (1 - TAU) * target_param)
