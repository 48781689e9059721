"""The actor's update clears the whole agent before the critic has stepped."""

import torch
from torch import nn

torch.manual_seed(0)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor, self.critic = nn.Linear(4, 2), nn.Linear(4, 1)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def actor_backward(self, obs, action, advantage):
        self.actor.zero_grad()
        log_prob = torch.log_softmax(self.actor(obs), -1).gather(1, action).squeeze(1)
        (-(log_prob * advantage).mean()).backward()

    def critic_backward(self, obs, returns):
        self.critic_optimizer.zero_grad()
        value = self.critic(obs).squeeze(-1)
        (value - returns).pow(2).mean().backward()
        return (returns - value).detach()


agent = Agent()
for _ in range(12):
    obs, action, returns = torch.randn(16, 4), torch.randint(2, (16, 1)), torch.randn(16)
    advantage = agent.critic_backward(obs, returns)
    agent.actor_backward(obs, action, advantage)
    agent.actor_optimizer.step()
    agent.critic_optimizer.step()
