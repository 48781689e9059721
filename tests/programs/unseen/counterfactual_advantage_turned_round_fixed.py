"""Counterfactual multi-agent policy gradients: the value of the taken lever, less the policy's own expectation.

Round 29
Class: meaning
"""

import torch
import torch.nn.functional as F
from torch import nn

AGENTS, LEVERS, LENGTH, EPISODES, GAMMA = 3, 4, 5, 16, 0.9


class Levers:
    """A lamp names a lever; everybody who pulls it is paid for, and all three together earn a bonus."""

    def reset(self):
        self.t = 0
        self.lamp = torch.randint(LEVERS, (EPISODES,))
        return F.one_hot(self.lamp, LEVERS).float()

    def step(self, pulls):
        right = (pulls == self.lamp.unsqueeze(1)).float()
        reward = right.mean(1) + right.prod(1)
        self.t += 1
        self.lamp = (self.lamp + 1 + torch.randint(2, (EPISODES,))) % LEVERS
        return F.one_hot(self.lamp, LEVERS).float(), reward, self.t == LENGTH


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(LEVERS + AGENTS, 32), nn.ReLU(), nn.Linear(32, LEVERS))

    def forward(self, lamp):
        who = torch.eye(AGENTS).expand(*lamp.shape[:-1], AGENTS, AGENTS)
        seen = lamp.unsqueeze(-2).expand(*lamp.shape[:-1], AGENTS, LEVERS)
        return self.body(torch.cat([seen, who], -1)).log_softmax(-1)


class Critic(nn.Module):
    """Values of one agent's levers, given what the others pulled."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(LEVERS + AGENTS + AGENTS * LEVERS, 64), nn.ReLU(), nn.Linear(64, LEVERS)
        )

    def forward(self, lamp, pulls):
        joint = F.one_hot(pulls, LEVERS).float().unsqueeze(-3)
        others = joint * (1 - torch.eye(AGENTS)).unsqueeze(-1)
        who = torch.eye(AGENTS).expand(*lamp.shape[:-1], AGENTS, AGENTS)
        seen = lamp.unsqueeze(-2).expand(*lamp.shape[:-1], AGENTS, LEVERS)
        return self.body(torch.cat([seen, who, others.flatten(-2)], -1))


torch.manual_seed(2914)
env, actor, critic = Levers(), Actor(), Critic()
actor_optimiser = torch.optim.Adam(actor.parameters(), lr=2e-3)
critic_optimiser = torch.optim.Adam(critic.parameters(), lr=4e-3)

for episode in range(60):
    lamps, pulls, rewards = [], [], []
    lamp, done = env.reset(), False
    while not done:
        with torch.no_grad():
            pull = torch.distributions.Categorical(logits=actor(lamp)).sample()
        lamps.append(lamp)
        pulls.append(pull)
        lamp, reward, done = env.step(pull)
        rewards.append(reward)
    lamps, pulls, rewards = torch.stack(lamps), torch.stack(pulls), torch.stack(rewards)
    index = pulls.unsqueeze(-1)

    q = critic(lamps, pulls)
    taken = q.gather(-1, index).squeeze(-1)
    with torch.no_grad():
        following = torch.cat([taken[1:], torch.zeros_like(taken[:1])])
        target = rewards.unsqueeze(-1) + GAMMA * following
    critic_loss = (taken - target).pow(2).mean()
    critic_optimiser.zero_grad()
    critic_loss.backward()
    critic_optimiser.step()

    log_pi = actor(lamps)
    with torch.no_grad():
        baseline = (log_pi.exp() * q).sum(-1)
        advantage = taken - baseline
    actor_loss = -(advantage * log_pi.gather(-1, index).squeeze(-1)).mean()
    actor_optimiser.zero_grad()
    actor_loss.backward()
    actor_optimiser.step()
    if episode % 15 == 0:
        print(episode, rewards.sum(0).mean().item())
