"""Adversarial imitation with a Wasserstein critic; its weights are clamped in place with gradients switched off.

Round 29
Class: forward errors
"""

import torch
from torch import nn
from torch.distributions import Normal

BOX, STEPS, COPIES = 0.05, 8, 16


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))
        self.log_std = nn.Parameter(torch.full((2,), -0.5))

    def forward(self, obs):
        return Normal(self.mean(obs), self.log_std.exp())


def expert_batch(size):
    obs = torch.randn(size, 3)
    gain = torch.tensor([[-0.6, 0.1], [0.0, -0.4], [0.2, 0.0]])
    return torch.cat([obs, obs @ gain], dim=-1)


def rollout(policy):
    obs, pairs, chosen, seen = torch.randn(COPIES, 3), [], [], []
    for _ in range(STEPS):
        with torch.no_grad():
            action = policy(obs).sample()
        seen.append(obs)
        chosen.append(action)
        pairs.append(torch.cat([obs, action], dim=-1))
        push = torch.cat([action, action.sum(-1, keepdim=True)], dim=-1)
        obs = 0.9 * obs + 0.1 * push + 0.1 * torch.randn(COPIES, 3)
    return torch.cat(seen), torch.cat(chosen), torch.cat(pairs)


def fit_critic(critic, optimizer, fake):
    loss = critic(fake).mean() - critic(expert_batch(fake.shape[0])).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for weight in critic.parameters():
            weight.clamp_(-BOX, BOX)
    return -loss.item()


torch.manual_seed(2902)
policy = Policy()
critic = nn.Sequential(nn.Linear(5, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
policy_opt = torch.optim.Adam(policy.parameters(), lr=1e-3)
critic_opt = torch.optim.RMSprop(critic.parameters(), lr=5e-4)

for iteration in range(50):
    obs, actions, fake = rollout(policy)
    distance = fit_critic(critic, critic_opt, fake)
    with torch.no_grad():
        rewards = critic(fake).squeeze(-1)
        weights = (rewards - rewards.mean()) / (rewards.std() + 1e-6)
    log_probs = policy(obs).log_prob(actions).sum(-1)
    loss = -(weights * log_probs).mean()
    policy_opt.zero_grad()
    loss.backward()
    policy_opt.step()
    if iteration % 10 == 0:
        print(f"{iteration:3d}  distance {distance:.4f}")
