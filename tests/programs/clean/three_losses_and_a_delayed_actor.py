"""Acting, an encoder's loss, a critic with a target actor, and an actor that learns every other time: one `forward`
line is called for the actor and for its target by turns."""

import copy

import torch
from torch import nn


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 8), nn.Linear(8, 1)

    def forward(self, obs):
        return torch.tanh(self.second(torch.relu(self.first(obs))))


torch.manual_seed(0)
encoder, actor, critic = nn.Linear(3, 3), Actor(), nn.Linear(4, 1)
target_actor, target_critic = copy.deepcopy(actor), copy.deepcopy(critic)
encoder_optimizer, actor_optimizer, critic_optimizer = (
    torch.optim.Adam(network.parameters(), 1e-3) for network in (encoder, actor, critic)
)

for update in range(1, 61):
    obs, action, reward, following = (
        torch.randn(32, 3),
        torch.rand(32, 1),
        torch.randn(32, 1),
        torch.randn(32, 3),
    )
    with torch.no_grad():
        actor(obs)
    encoder_optimizer.zero_grad()
    nn.functional.mse_loss(encoder(obs), following).backward()
    encoder_optimizer.step()
    with torch.no_grad():
        wanted = reward + 0.9 * target_critic(torch.cat([following, target_actor(following)], 1))
    critic_loss = nn.functional.mse_loss(critic(torch.cat([obs, action], 1)), wanted)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    if update % 2 == 0:
        actor_loss = -critic(torch.cat([obs, actor(obs)], 1)).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()
    if update % 25 == 0:
        target_actor.load_state_dict(actor.state_dict())
        target_critic.load_state_dict(critic.state_dict())
