"""A soft actor-critic with a value of its own: the critics are asked without gradients where the value is fitted, and with
gradients in the loss of the policy.

Round 16
Class: the line
"""

import copy

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(1614)
rng = np.random.default_rng(1614)
OBS, ACT, ALPHA, GAMMA, TAU = 4, 2, 0.1, 0.95, 0.01


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(OBS, 64), nn.ReLU())
        self.mean, self.logstd = nn.Linear(64, ACT), nn.Linear(64, ACT)

    def get_action(self, obs):
        hidden = self.fc(obs)
        normal = Normal(self.mean(hidden), self.logstd(hidden).clamp(-5, 1).exp())
        x = normal.rsample()
        action = torch.tanh(x)
        return action, (normal.log_prob(x) - torch.log(1 - action.pow(2) + 1e-6)).sum(1)


class SoftQNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(OBS + ACT, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, obs, action):
        return self.fc(torch.cat([obs, action], 1)).view(-1)


class Value(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(OBS, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, obs):
        return self.fc(obs).view(-1)


class Reacher:
    def reset(self):
        self.x = rng.normal(size=OBS)
        return self.x.astype(np.float32)

    def step(self, action):
        self.x = 0.9 * self.x + 0.3 * np.tile(action, OBS // ACT)
        done = bool(np.abs(self.x).max() > 3)
        return self.x.astype(np.float32), float(-np.square(self.x).mean() - 2 * done), done


pg, vf = Policy(), Value()
vf_target = copy.deepcopy(vf).requires_grad_(False)
q1, q2 = SoftQNetwork(), SoftQNetwork()
values_optimizer = torch.optim.Adam([*vf.parameters(), *q1.parameters(), *q2.parameters()], lr=1e-3)
policy_optimizer = torch.optim.Adam(pg.parameters(), lr=1e-3)
env, replay = Reacher(), []
obs = env.reset()
for global_step in range(400):
    with torch.no_grad():
        action = pg.get_action(torch.from_numpy(obs)[None])[0][0].numpy()
    next_obs, reward, done = env.step(action)
    replay.append((obs, action, np.float32(reward), next_obs, np.float32(done)))
    obs = env.reset() if done else next_obs
    if global_step < 100 or global_step % 4:
        continue

    rows = [replay[i] for i in rng.integers(len(replay), size=48)]
    s_obs, s_action, s_reward, s_next, s_done = (torch.from_numpy(np.stack(x)) for x in zip(*rows))

    # value and critics
    with torch.no_grad():
        fresh_action, fresh_logprob = pg.get_action(s_obs)
        min_q = torch.min(q1(s_obs, fresh_action), q2(s_obs, fresh_action))
        q_target = s_reward + (1 - s_done) * GAMMA * vf_target(s_next)
    v_loss = (vf(s_obs) - (min_q - ALPHA * fresh_logprob)).pow(2).mean()
    q_loss = (q1(s_obs, s_action) - q_target).pow(2).mean() + (q2(s_obs, s_action) - q_target).pow(2).mean()
    values_optimizer.zero_grad()
    (v_loss + q_loss).backward()
    values_optimizer.step()

    # policy
    fresh_action, fresh_logprob = pg.get_action(s_obs)
    min_q = torch.min(q1(s_obs, fresh_action), q2(s_obs, fresh_action))
    pi_loss = (ALPHA * fresh_logprob - min_q).mean()
    policy_optimizer.zero_grad()
    pi_loss.backward()
    policy_optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(vf_target.parameters(), vf.parameters()):
            slow.lerp_(fast, TAU)
    if global_step % 100 == 0:
        print(global_step, v_loss.item(), q_loss.item(), pi_loss.item())
