"""MADDPG with discrete actions: the moves of the others are made one-hot by their best score, which is right, and the
agent's own move in its actor loss is made so, too, where Gumbel-softmax belongs. No gradient comes back from the
critic, and only the small penalty on the logits trains the actors. See shariqiqbal2810/maddpg-pytorch#11.

Round 25
Class: the line
"""

import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(2506)
rng = np.random.default_rng(2506)
AGENTS, OBS, ACTIONS, GAMMA, TAU = 2, 4, 3, 0.9, 0.02


def onehot_from_logits(logits):
    return F.one_hot(logits.argmax(-1), logits.shape[-1]).float()  # BUG GS203 GS202


def make_mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 48), nn.ReLU(), nn.Linear(48, n_out))


class DDPGAgent:
    def __init__(self):
        self.policy = make_mlp(OBS, ACTIONS)
        self.critic = make_mlp(AGENTS * (OBS + ACTIONS), 1)
        self.target_policy = copy.deepcopy(self.policy)
        self.target_critic = copy.deepcopy(self.critic)
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=2e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=2e-3)

    def step(self, obs):
        with torch.no_grad():
            return F.one_hot(Categorical(logits=self.policy(obs)).sample(), ACTIONS).float()


class MADDPG:
    def __init__(self):
        self.agents = [DDPGAgent() for _ in range(AGENTS)]

    def update(self, sample, i):
        obs, acs, rews, next_obs, dones = sample
        agent = self.agents[i]
        with torch.no_grad():
            next_acs = [onehot_from_logits(a.target_policy(o)) for a, o in zip(self.agents, next_obs)]
            next_q = agent.target_critic(torch.cat([*next_obs, *next_acs], 1)).squeeze(1)
            target = rews[i] + GAMMA * (1 - dones) * next_q
        value = agent.critic(torch.cat([*obs, *acs], 1)).squeeze(1)
        vf_loss = F.mse_loss(value, target)
        agent.critic_optimizer.zero_grad()
        vf_loss.backward()
        agent.critic_optimizer.step()

        pol_out = agent.policy(obs[i])
        pol_vf_in = onehot_from_logits(pol_out)  # BUG GS203 GS202
        all_pol_acs = []
        for j, (other, ob) in enumerate(zip(self.agents, obs)):
            if j == i:
                all_pol_acs.append(pol_vf_in)
            else:
                with torch.no_grad():
                    all_pol_acs.append(onehot_from_logits(other.policy(ob)))
        pol_loss = -agent.critic(torch.cat([*obs, *all_pol_acs], 1)).mean()
        pol_loss = pol_loss + 1e-3 * pol_out.pow(2).mean()
        agent.policy_optimizer.zero_grad()
        pol_loss.backward()
        agent.policy_optimizer.step()

    def update_all_targets(self):
        with torch.no_grad():
            for a in self.agents:
                for net, target in ((a.policy, a.target_policy), (a.critic, a.target_critic)):
                    for p, slow in zip(net.parameters(), target.parameters()):
                        slow.lerp_(p, TAU)


class Meeting:
    """Two walkers on a line are paid for being close to each other."""

    def reset(self):
        self.x, self.t = rng.normal(size=AGENTS) * 2, 0
        return self.observe()

    def observe(self):
        return [np.array([x, y, x - y, self.t / 10], dtype=np.float32) for x, y in (self.x, self.x[::-1])]

    def step(self, acs):
        self.x = self.x + 0.5 * (np.array([a.argmax() for a in acs]) - 1)
        self.t += 1
        reward = float(-abs(self.x[0] - self.x[1]))
        return self.observe(), [reward, reward], self.t == 10


env, maddpg, replay = Meeting(), MADDPG(), []
obs = env.reset()
for step in range(240):
    acs = [a.step(torch.from_numpy(o)).numpy() for a, o in zip(maddpg.agents, obs)]
    next_obs, rewards, done = env.step(acs)
    replay.append((obs, acs, rewards, next_obs, done))
    obs = env.reset() if done else next_obs
    if step >= 80 and step % 4 == 0:
        rows = [replay[k] for k in rng.integers(len(replay), size=48)]
        o, a, r, o2, d = (np.array(x, dtype=np.float32) for x in zip(*rows))
        split = [[torch.from_numpy(x[:, k]) for k in range(AGENTS)] for x in (o, a, r, o2)]
        for i in range(AGENTS):
            maddpg.update((*split, torch.from_numpy(d)), i)
        maddpg.update_all_targets()
