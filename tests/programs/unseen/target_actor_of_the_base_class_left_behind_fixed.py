"""A base agent keeps slow copies of its actor and its critic and moves both; the agent with two critics moves its twins and
the slow actor.

Round 16
Class: weights
"""

import copy

import torch
from torch import nn

torch.manual_seed(1603)
STATE, ACTION, BATCH = 5, 2, 64


def mlp(inputs, outputs, *tail):
    return nn.Sequential(nn.Linear(inputs, 48), nn.ReLU(), nn.Linear(48, outputs), *tail)


class ReplayMemory:
    def __init__(self):
        self.data = []

    def push(self, *transition):
        self.data.append(transition)

    def sample(self, count):
        rows = torch.randint(len(self.data), (count,)).tolist()
        return [torch.stack(column) for column in zip(*[self.data[row] for row in rows])]


class AgentDDPG:
    """Deterministic actor, one critic, slow copies of both."""

    gamma, tau = 0.96, 0.02

    def __init__(self):
        self.act = mlp(STATE, ACTION, nn.Tanh())
        self.act_target = copy.deepcopy(self.act).requires_grad_(False)
        self.act_optim = torch.optim.Adam(self.act.parameters(), lr=1e-3)
        self.build_critic()

    def build_critic(self):
        self.cri = mlp(STATE + ACTION, 1)
        self.cri_target = copy.deepcopy(self.cri).requires_grad_(False)
        self.cri_optim = torch.optim.Adam(self.cri.parameters(), lr=1e-3)

    def next_value(self, after):
        return self.cri_target(torch.cat([after, self.act_target(after)], -1))

    def critic_loss(self, state, action, label):
        return nn.functional.smooth_l1_loss(self.cri(torch.cat([state, action], -1)), label)

    def actor_loss(self, state):
        return -self.cri(torch.cat([state, self.act(state)], -1)).mean()

    def soft_update(self, target, source):
        with torch.no_grad():
            for slow, fast in zip(target.parameters(), source.parameters()):
                slow.mul_(1 - self.tau).add_(self.tau * fast)

    def update_targets(self):
        self.soft_update(self.cri_target, self.cri)
        self.soft_update(self.act_target, self.act)

    def minimise(self, optimizer, loss):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    def update(self, memory, count):
        state, action, reward, after, going = memory.sample(count)
        with torch.no_grad():
            label = reward + self.gamma * going * self.next_value(after)
        report = {"critic": self.minimise(self.cri_optim, self.critic_loss(state, action, label))}
        report["actor"] = self.minimise(self.act_optim, self.actor_loss(state))
        self.update_targets()
        return report


class AgentTD3(AgentDDPG):
    """Twin critics and a smoothed next action."""

    def build_critic(self):
        self.cri = nn.ModuleList([mlp(STATE + ACTION, 1), mlp(STATE + ACTION, 1)])
        self.cri_target = copy.deepcopy(self.cri).requires_grad_(False)
        self.cri_optim = torch.optim.Adam(self.cri.parameters(), lr=1e-3)

    def next_value(self, after):
        noise = (0.2 * torch.randn(len(after), ACTION)).clamp(-0.4, 0.4)
        action = (self.act_target(after) + noise).clamp(-1, 1)
        pair = torch.cat([after, action], -1)
        return torch.min(*[twin(pair) for twin in self.cri_target])

    def critic_loss(self, state, action, label):
        pair = torch.cat([state, action], -1)
        return sum(nn.functional.smooth_l1_loss(twin(pair), label) for twin in self.cri)

    def actor_loss(self, state):
        return -self.cri[0](torch.cat([state, self.act(state)], -1)).mean()

    def update_targets(self):
        for slow, fast in zip(self.cri_target, self.cri):
            self.soft_update(slow, fast)
        self.soft_update(self.act_target, self.act)


agent, memory = AgentTD3(), ReplayMemory()
mixing = torch.randn(ACTION, STATE) * 0.3
state = torch.randn(STATE)
for frame in range(400):
    with torch.no_grad():
        action = (agent.act(state) + 0.3 * torch.randn(ACTION)).clamp(-1, 1)
    after = 0.9 * state + action @ mixing
    ended = after.abs().max() > 3
    memory.push(state, action, -after.pow(2).mean().view(1), after, (~ended).float().view(1))
    state = torch.randn(STATE) if ended else after
    if frame >= 80 and frame % 4 == 0:
        report = agent.update(memory, BATCH)
        if frame % 80 == 0:
            print(frame, report)
