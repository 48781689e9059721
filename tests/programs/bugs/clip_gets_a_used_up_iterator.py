"""One generator for the optimizer and for the clipping: the second gets nothing."""

import itertools

import torch
from torch import nn

torch.manual_seed(0)


class ActorCritic:
    def __init__(self):
        self.actor, self.critic = nn.Linear(4, 2), nn.Linear(4, 1)
        chained = itertools.chain(self.actor.parameters(), self.critic.parameters())
        self.params = chained
        self.optimizer = torch.optim.Adam(self.params, lr=1e-3)

    def update(self, obs, action, returns):
        value = self.critic(obs).squeeze(-1)
        dist = torch.distributions.Categorical(logits=self.actor(obs))
        loss = (value - returns).pow(2).mean()
        loss = loss - (dist.log_prob(action) * (returns - value).detach()).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.params, 0.5)  # BUG GS505
        self.optimizer.step()


agent = ActorCritic()
for _ in range(12):
    agent.update(torch.randn(16, 4), torch.randint(2, (16,)), torch.randn(16))
