"""Self-imitation weights a stored action by how far its return beats the value, with the value still live.

Class: weights
"""

import random

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(199)
random.seed(199)
actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-3)
memory = []


def play():
    obs = torch.randn(16, 4)
    with torch.no_grad():
        action = Categorical(logits=actor(obs)).sample()
    returns = (action == obs[:, :3].argmax(-1)).float() + 0.5 * torch.randn(16)
    memory.extend(zip(obs, action, returns))
    del memory[:-500]


def imitate():
    obs, action, returns = (torch.stack(x) for x in zip(*random.sample(memory, 16)))
    value = critic(obs).squeeze(-1)
    gain = (returns - value).clamp(min=0)  # BUG GS303
    log_prob = Categorical(logits=actor(obs)).log_prob(action)
    imitation = -(log_prob * gain).mean()
    regression = 0.5 * (returns - value).pow(2).mean()
    return imitation + regression


for step in range(150):
    play()
    loss = imitate()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
