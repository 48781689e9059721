"""World model, imagined rollouts, the actor through the model, the critic on λ-returns, a slow critic."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
Z, H, B = 6, 5, 8


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 24), nn.ELU(), nn.Linear(24, outputs))


world = nn.ModuleDict({"enc": mlp(4, Z), "dyn": mlp(Z + 1, Z), "rew": mlp(Z, 1), "dec": mlp(Z, 4)})
actor, critic = mlp(Z, 2), mlp(Z, 1)
slow = copy.deepcopy(critic).requires_grad_(False)
world_optimizer = torch.optim.Adam(world.parameters(), lr=1e-3)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)


def act(z):
    mean, log_std = actor(z).chunk(2, -1)
    dist = torch.distributions.Normal(mean, log_std.clamp(-4, 1).exp())
    return torch.tanh(dist.rsample()), dist.entropy()


for _ in range(8):
    obs, action, reward, after = torch.randn(B, 4), torch.randn(B, 1), torch.randn(B, 1), torch.randn(B, 4)
    z = world["enc"](obs)
    predicted = world["dyn"](torch.cat([z, action], -1))
    model_loss = nn.functional.mse_loss(world["dec"](z), obs)
    model_loss = model_loss + nn.functional.mse_loss(predicted, world["enc"](after).detach())
    model_loss = model_loss + nn.functional.mse_loss(world["rew"](z), reward)
    world_optimizer.zero_grad()
    model_loss.backward()
    world_optimizer.step()
    world.requires_grad_(False)
    state, states, entropies = world["enc"](obs), [], []
    for _ in range(H):
        a, entropy = act(state)
        state = state + 0.1 * world["dyn"](torch.cat([state, a], -1))
        states.append(state)
        entropies.append(entropy)
    imagined = torch.stack(states)
    rewards, values = world["rew"](imagined).squeeze(-1), slow(imagined).squeeze(-1)
    last, returns = values[-1], []
    for t in reversed(range(H - 1)):
        last = rewards[t] + 0.97 * (0.05 * values[t + 1] + 0.95 * last)
        returns.insert(0, last)
    returns = torch.stack(returns)
    actor_loss = -returns.mean() - 1e-3 * torch.stack(entropies).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    world.requires_grad_(True)
    critic_loss = (critic(imagined[:-1].detach()).squeeze(-1) - returns.detach()).pow(2).mean()
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    with torch.no_grad():
        for s, c in zip(slow.parameters(), critic.parameters()):
            s.copy_(0.98 * s + 0.02 * c)
