"""Several agents, each with a critic that sees everybody: the target of the critics takes the next value for agents
whose episode has just ended too.

Round 14
Class: meaning
"""

import copy

import numpy as np
import torch
from torch import nn

AGENTS, OBS, ACT = 3, 4, 2


class Tag:
    """Every agent runs to its own corner; who arrives is done, and the episode ends when one has arrived."""

    corners = np.array([[1, 1], [-1, 1], [1, -1]], dtype=np.float32)

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def observe(self):
        return np.concatenate([self.place, self.corners - self.place], axis=1).astype(np.float32)

    def reset(self):
        self.place, self.clock = self.rng.uniform(-0.5, 0.5, (AGENTS, 2)), 0
        return self.observe()

    def step(self, actions):
        self.place = self.place + 0.25 * actions
        self.clock += 1
        far = np.linalg.norm(self.place - self.corners, axis=1)
        dones = np.full(AGENTS, bool((far < 0.5).any()))
        return self.observe(), np.where(far < 0.5, 3.0, -far), dones, self.clock >= 25


def mlp(inputs, outputs, *last):
    return nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs), *last)


class DDPGAgent:
    def __init__(self):
        self.policy, self.critic = mlp(OBS, ACT, nn.Tanh()), mlp(AGENTS * (OBS + ACT), 1)
        self.target_policy, self.target_critic = copy.deepcopy(self.policy), copy.deepcopy(self.critic)
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=2e-3)


class MADDPG:
    gamma, tau = 0.95, 0.02

    def __init__(self):
        self.agents = [DDPGAgent() for _ in range(AGENTS)]

    @torch.no_grad()
    def step(self, obs, noise):
        moves = [
            agent.policy(torch.as_tensor(mine)).numpy() for agent, mine in zip(self.agents, obs, strict=True)
        ]
        return np.clip(np.stack(moves) + noise, -1, 1).astype(np.float32)

    def update(self, index, obs, acs, rews, next_obs, dones):
        current = self.agents[index]
        with torch.no_grad():
            next_acs = [a.target_policy(next_obs[:, i]) for i, a in enumerate(self.agents)]
            after = current.target_critic(torch.cat([next_obs.flatten(1), *next_acs], dim=1))
            target = rews[:, index].view(-1, 1) + self.gamma * after  # BUG GS805
        actual = current.critic(torch.cat([obs.flatten(1), acs.flatten(1)], dim=1))
        vf_loss = nn.functional.mse_loss(actual, target)
        current.critic_optimizer.zero_grad()
        vf_loss.backward()
        nn.utils.clip_grad_norm_(current.critic.parameters(), 0.5)
        current.critic_optimizer.step()

        current.critic.requires_grad_(False)
        mine = current.policy(obs[:, index])
        moves = [mine if i == index else acs[:, i] for i in range(AGENTS)]
        pol_loss = (
            -current.critic(torch.cat([obs.flatten(1), *moves], dim=1)).mean() + 1e-3 * mine.pow(2).mean()
        )
        current.policy_optimizer.zero_grad()
        pol_loss.backward()
        nn.utils.clip_grad_norm_(current.policy.parameters(), 0.5)
        current.policy_optimizer.step()
        current.critic.requires_grad_(True)
        return vf_loss.item()

    @torch.no_grad()
    def update_all_targets(self):
        for a in self.agents:
            for slow, fast in ((a.target_policy, a.policy), (a.target_critic, a.critic)):
                for old, new in zip(slow.parameters(), fast.parameters(), strict=True):
                    old.lerp_(new, self.tau)


torch.manual_seed(1420)
rng, env, maddpg, memory = np.random.default_rng(20), Tag(21), MADDPG(), []
for episode in range(22):
    obs, over = env.reset(), False
    while not over:
        acs = maddpg.step(obs, rng.normal(scale=0.5, size=(AGENTS, ACT)))
        next_obs, rews, dones, late = env.step(acs)
        memory.append((obs, acs, rews, next_obs, dones))
        obs, over = next_obs, late or dones.all()
    if len(memory) > 60:
        for index in [*range(AGENTS), *range(AGENTS)]:
            rows = [memory[i] for i in rng.integers(len(memory), size=28)]
            batch = [
                torch.tensor(np.stack(column), dtype=torch.float32) for column in zip(*rows, strict=True)
            ]
            loss = maddpg.update(index, *batch)
        maddpg.update_all_targets()
print(len(memory), round(loss, 4))
