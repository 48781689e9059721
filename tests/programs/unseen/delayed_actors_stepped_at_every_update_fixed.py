"""Two agents with delayed actors: a backward every third update, and a step at each.
Repaired here.

Round 12
Class: the line
"""

import copy
from dataclasses import dataclass, field

import torch
from torch import nn

torch.manual_seed(1214)
AGENTS, OBS, ACTION, DELAY = 2, 4, 1, 3


def network(inputs, outputs, *last):
    return nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs), *last)


@dataclass
class Player:
    number: int
    actor: nn.Module = field(default_factory=lambda: network(OBS, ACTION, nn.Tanh()))
    critic: nn.Module = field(default_factory=lambda: network(AGENTS * (OBS + ACTION), 1))

    def __post_init__(self):
        self.slow_actor, self.slow_critic = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=2e-3)

    def judge(self, critic, obs, actions):
        return critic(torch.cat([obs.flatten(1), torch.cat(actions, -1)], -1)).squeeze(-1)

    def fit_critic(self, obs, actions, goal):
        loss = (self.judge(self.critic, obs, actions) - goal).pow(2).mean()
        self.critic_opt.zero_grad()
        loss.backward()
        self.critic_opt.step()

    def fit_actor(self, obs, actions, due):
        if due:
            mine = self.actor(obs[:, self.number])
            joint = [mine if n == self.number else a for n, a in enumerate(actions)]
            self.actor_opt.zero_grad()
            (-self.judge(self.critic, obs, joint).mean()).backward()
            self.actor_opt.step()

    @torch.no_grad()
    def soften(self, rate=0.02):
        for slow, fast in ((self.slow_actor, self.actor), (self.slow_critic, self.critic)):
            for s, p in zip(slow.parameters(), fast.parameters()):
                s.lerp_(p, rate)


players = [Player(n) for n in range(AGENTS)]
for update in range(60):
    obs, after = torch.randn(24, AGENTS, OBS), torch.randn(24, AGENTS, OBS)
    actions = [torch.rand(24, ACTION) * 2 - 1 for _ in players]
    gap = (obs[:, 0, 0] + actions[0].squeeze(-1)) - (obs[:, 1, 0] + actions[1].squeeze(-1))
    for player in players:
        with torch.no_grad():
            ahead = [p.slow_actor(after[:, p.number]) for p in players]
            goal = -gap.abs() + 0.9 * player.judge(player.slow_critic, after, ahead)
        player.fit_critic(obs, actions, goal)
        player.fit_actor(obs, actions, due=update % DELAY == 0)
        player.soften()
