"""MADDPG: the other agents' actions stay attached; what they receive is cleared before use."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
N = 3


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 16), nn.ReLU(), nn.Linear(16, outputs))


class Agent:
    def __init__(self):
        self.actor, self.critic = mlp(4, 2), mlp(N * 6, 1)
        self.actor_target, self.critic_target = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)


agents = [Agent() for _ in range(N)]
for _ in range(8):
    obs, next_obs = torch.randn(16, N, 4), torch.randn(16, N, 4)
    actions, rewards = torch.randn(16, N, 2), torch.randn(16, N)
    joint, next_joint = obs.flatten(1), next_obs.flatten(1)
    for i, agent in enumerate(agents):
        with torch.no_grad():
            next_actions = torch.cat([a.actor_target(next_obs[:, j]) for j, a in enumerate(agents)], 1)
            after = agent.critic_target(torch.cat([next_joint, next_actions], 1)).squeeze(1)
            wanted = rewards[:, i] + 0.95 * after
        now = agent.critic(torch.cat([joint, actions.flatten(1)], 1)).squeeze(1)
        agent.critic_optimizer.zero_grad()
        nn.functional.mse_loss(now, wanted).backward()
        agent.critic_optimizer.step()
        chosen = [torch.tanh(a.actor(obs[:, j])) for j, a in enumerate(agents)]
        agent.actor_optimizer.zero_grad()
        (-agent.critic(torch.cat([joint, *chosen], 1)).mean()).backward()
        agent.actor_optimizer.step()
    for agent in agents:
        for net, lag in ((agent.actor, agent.actor_target), (agent.critic, agent.critic_target)):
            for new, old in zip(net.parameters(), lag.parameters()):
                old.data.mul_(0.99)
                old.data.add_(0.01 * new.data)
