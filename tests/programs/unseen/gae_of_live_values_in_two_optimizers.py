"""PPO with an optimizer each: advantages are made of the critic's live values, and both losses go backward before
either optimizer steps.

Round 3
Class: weights
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(311)
actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)


def gae(rewards, values, gamma=0.97, lam=0.9):
    advantages, running = [], 0.0
    for t in reversed(range(len(rewards) - 1)):
        delta = rewards[t] + gamma * values[t + 1] - values[t]
        running = delta + gamma * lam * running
        advantages.insert(0, running)
    return torch.stack(advantages)


for iteration in range(40):
    obs = torch.randn(12, 6, 4)
    dist = Categorical(logits=actor(obs))
    action = dist.sample()
    rewards = (action == obs[..., :3].argmax(-1)).float()
    values = critic(obs).squeeze(-1)
    advantages = gae(rewards, values)  # BUG GS303 GS304
    returns = (advantages + values[:-1]).detach()
    policy_loss = -(dist.log_prob(action)[:-1] * advantages).mean()  # BUG GS303
    value_loss = (values[:-1] - returns).pow(2).mean()
    actor_opt.zero_grad()
    critic_opt.zero_grad()
    policy_loss.backward(retain_graph=True)
    value_loss.backward()
    actor_opt.step()
    critic_opt.step()
