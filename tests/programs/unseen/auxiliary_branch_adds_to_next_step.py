"""Every tenth update a reconstruction loss runs backward after the step, and its gradient waits there for
the next policy step.

Class: late and rare
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(157)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, 32), nn.Tanh())
        self.policy = nn.Linear(32, 3)
        self.decoder = nn.Linear(32, 6)


agent = Agent()
policy_opt = torch.optim.Adam([*agent.encoder.parameters(), *agent.policy.parameters()], lr=3e-3)
aux_opt = torch.optim.Adam(agent.decoder.parameters(), lr=3e-3)


def policy_update(obs):
    dist = Categorical(logits=agent.policy(agent.encoder(obs)))
    action = dist.sample()
    reward = (action == obs[:, :3].argmax(-1)).float()
    loss = -(dist.log_prob(action) * (reward - reward.mean())).mean()
    loss.backward()
    policy_opt.step()
    policy_opt.zero_grad()
    return reward.mean().item()


def auxiliary_update(obs):
    """Trains the decoder only; the encoder belongs to the policy."""
    latent = agent.encoder(obs)  # BUG GS304 GS401
    loss = 50.0 * (agent.decoder(latent) - obs).pow(2).mean()
    aux_opt.zero_grad()
    loss.backward()  # BUG GS304 GS401
    aux_opt.step()


for update in range(150):
    obs = torch.randn(32, 6)
    reward = policy_update(obs)
    if update % 10 == 9:
        auxiliary_update(obs)
print("reward", reward)
