"""Actor and critic share an encoder, and each optimizer was given all of its own module."""

import torch
from torch import nn

torch.manual_seed(0)


class Head(nn.Module):
    def __init__(self, encoder, outputs):
        super().__init__()
        self.encoder, self.out = encoder, nn.Linear(16, outputs)

    def forward(self, obs):
        return self.out(self.encoder(obs))


encoder = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
actor, critic = Head(encoder, 2), Head(encoder, 1)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-4)  # BUG GS308
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)  # BUG GS308
for _ in range(12):
    obs, action, returns = torch.randn(16, 6), torch.randint(2, (16,)), torch.randn(16)
    critic_loss = (critic(obs).squeeze(-1) - returns).pow(2).mean()
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    log_prob = torch.distributions.Categorical(logits=actor(obs)).log_prob(action)
    actor_optimizer.zero_grad()
    (-(log_prob * returns).mean()).backward()
    actor_optimizer.step()
