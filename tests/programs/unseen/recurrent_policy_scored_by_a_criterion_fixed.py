"""A recurrent policy's log-probabilities come from a criterion, which returns them with the sign of a loss; the
policy gradient negates them once more.
Repaired here.

Round 22
Class: meaning
"""

import torch
from torch import nn


class CueEnv:
    """A cue at the first step names the lever that pays at the last one. Ten copies in lockstep, no ends inside."""

    def __init__(self, copies, length=4, levers=3):
        self.copies, self.length, self.levers = copies, length, levers

    def begin(self):
        self.cue = torch.randint(self.levers, (self.copies,))
        self.clock = 0
        return torch.eye(self.levers)[self.cue]

    def act(self, lever):
        self.clock += 1
        paid = (lever == self.cue).float() * (1.0 if self.clock == self.length else 0.1)
        return torch.zeros(self.copies, self.levers), paid


class Recurrent(nn.Module):
    def __init__(self, levers=3, hidden=24):
        super().__init__()
        self.cell = nn.GRUCell(levers, hidden)
        self.head = nn.Linear(hidden, levers)
        self.hidden = hidden

    def forward(self, obs, memory):
        memory = self.cell(obs, memory)
        return self.head(memory), memory


class Reinforce:
    def __init__(self, env):
        self.env, self.policy = env, Recurrent()
        self.criterion = nn.CrossEntropyLoss(reduction="none")
        self.optim = torch.optim.Adam(self.policy.parameters(), lr=5e-3)
        self.baseline = 0.0

    def episode(self):
        obs, memory = self.env.begin(), torch.zeros(self.env.copies, self.policy.hidden)
        scored, rewards = [], []
        for _ in range(self.env.length):
            logits, memory = self.policy(obs, memory)
            lever = torch.distributions.Categorical(logits=logits).sample()
            scored.append(-self.criterion(logits, lever))
            obs, reward = self.env.act(lever)
            rewards.append(reward)
        return torch.stack(scored), torch.stack(rewards)

    def update(self):
        log_probs, rewards = self.episode()
        returns = rewards.flip(0).cumsum(0).flip(0)
        advantages = returns - self.baseline
        self.baseline += 0.1 * (returns.mean().item() - self.baseline)
        loss = -(log_probs * advantages).mean()
        self.optim.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), 5.0)
        self.optim.step()
        return rewards.sum(0).mean().item()


torch.manual_seed(2204)
agent = Reinforce(CueEnv(copies=10))
for iteration in range(60):
    score = agent.update()
    if iteration % 20 == 0:
        print(iteration, round(score, 3))
