"""A recurrent deterministic agent with one optimizer: the actor's term is added to the critic's, and raises the critic's values.
Repaired here.

Round 12
Class: weights
"""

import copy

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(1205)


class Agent(nn.Module):
    """A shared memory of the sequence, with an actor and a critic on top of it."""

    def __init__(self, obs=4, action=2, width=32):
        super().__init__()
        self.memory = nn.GRU(obs, width, batch_first=True)
        self.actor = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, action), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(width + action, width), nn.ReLU(), nn.Linear(width, 1))

    def value(self, hidden, action):
        return self.critic(torch.cat([hidden, action], -1)).squeeze(-1)

    def value_as_judge(self, hidden, action):
        """The critic with its weights as numbers: only the action is differentiated."""
        weights = {name: w.detach() for name, w in self.critic.named_parameters()}
        return functional_call(self.critic, weights, (torch.cat([hidden.detach(), action], -1),)).squeeze(-1)


def critic_term(agent, slow, batch):
    obs, action, reward, mask = batch
    hidden, _ = agent.memory(obs)
    with torch.no_grad():
        slow_hidden, _ = slow.memory(obs)
        ahead = slow.value(slow_hidden, slow.actor(slow_hidden))[:, 1:]
        goal = reward[:, :-1] + 0.95 * mask[:, :-1] * ahead
    error = agent.value(hidden, action)[:, :-1] - goal
    return error.pow(2).mean(), hidden


def actor_term(agent, hidden):
    return -agent.value_as_judge(hidden, agent.actor(hidden)).mean()


def batches(number):
    for _ in range(number):
        obs, action = torch.randn(16, 9, 4), torch.rand(16, 9, 2) * 2 - 1
        reward = 1 - (action - obs[..., :2].tanh()).pow(2).sum(-1)
        yield obs, action, reward, (torch.rand(16, 9) > 0.05).float()


agent = Agent()
slow = copy.deepcopy(agent).requires_grad_(False)
optimizer = torch.optim.AdamW(agent.parameters(), lr=1e-3)
for batch in batches(60):
    critic_loss, hidden = critic_term(agent, slow, batch)
    actor_loss = actor_term(agent, hidden)
    loss = critic_loss + 0.5 * actor_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for s, p in zip(slow.parameters(), agent.parameters()):
            s.lerp_(p, 0.02)
