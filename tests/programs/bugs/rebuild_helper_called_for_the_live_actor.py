"""A helper makes fresh layers; called for the trained actor in the middle of the run, its optimizer keeps the old."""

import torch
from torch import nn

torch.manual_seed(0)


def fresh(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 8), nn.Tanh(), nn.Linear(8, outputs))


class Agent:
    def __init__(self):
        self.actor, self.critic = fresh(4, 2), fresh(4, 1)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def reset_actor(self):
        self.actor = fresh(4, 2)  # BUG GS206

    def update(self):
        obs, action, returns = torch.randn(16, 4), torch.randint(2, (16, 1)), torch.randn(16)
        estimate = self.critic(obs).squeeze(-1)
        critic_loss = (estimate - returns).pow(2).mean()
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        log_prob = torch.log_softmax(self.actor(obs), -1).gather(1, action).squeeze(1)
        actor_loss = -(log_prob * (returns - estimate.detach())).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()


agent = Agent()
for update in range(60):
    if update == 30:
        agent.reset_actor()
    agent.update()
