"""A dreamer's actor and critic weigh every dreamt step by the product of the continuation before it, but the product
runs along the starting states and not along the horizon.

Round 29
Class: axes
"""

import torch
from torch import nn

HORIZON, STARTS, GAMMA, LAMBDA = 7, 20, 0.95, 0.9


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 40), nn.ELU(), nn.Linear(40, n_out))


class WorldModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.dynamics, self.reward, self.alive = mlp(4, 3), mlp(3, 1), mlp(3, 1)

    def imagine(self, state, action):
        return state + 0.3 * torch.tanh(self.dynamics(torch.cat([state, action], -1)))

    def loss(self, state, action, after, reward, alive):
        predicted = self.imagine(state, action)
        fit = (predicted - after).pow(2).sum(-1) + (self.reward(after).squeeze(-1) - reward).pow(2)
        end = nn.functional.binary_cross_entropy_with_logits(self.alive(after).squeeze(-1), alive)
        return fit.mean() + end


def collect(count):
    state, action = 1.9 * (2 * torch.rand(count, 3) - 1), 2 * torch.rand(count, 1) - 1
    pull = torch.cat([action, -action, 0.5 * action], -1)
    after = state + 0.3 * torch.tanh(pull - 0.2 * state)
    return state, action, after, 1 - after.abs().mean(-1), (after.abs().max(-1).values < 2.0).float()


def lambda_returns(rewards, values, discounts):
    tail, out = values[-1], []
    for t in reversed(range(HORIZON)):
        tail = rewards[t] + discounts[t] * ((1 - LAMBDA) * values[t + 1] + LAMBDA * tail)
        out.insert(0, tail)
    return torch.stack(out)


torch.manual_seed(2913)
world, actor, critic = WorldModel(), nn.Sequential(mlp(3, 1), nn.Tanh()), mlp(3, 1)
world_opt = torch.optim.Adam(world.parameters(), lr=2e-3)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
data = collect(1500)

for step in range(60):
    rows = torch.randint(1500, (64,))
    model_loss = world.loss(*(column[rows] for column in data))
    world_opt.zero_grad()
    model_loss.backward()
    world_opt.step()

    state = data[0][torch.randint(1500, (STARTS,))]
    states = [state]
    for _ in range(HORIZON):
        state = world.imagine(state, actor(state))
        states.append(state)
    states = torch.stack(states)
    rewards = world.reward(states[1:]).squeeze(-1)
    discounts = GAMMA * world.alive(states[1:]).squeeze(-1).sigmoid()
    returns = lambda_returns(rewards, critic(states).squeeze(-1), discounts)
    with torch.no_grad():
        survived = torch.cat([torch.ones(1, STARTS), discounts[:-1]])
        weights = torch.cumprod(survived, dim=1)  # BUG GS604
    actor_loss = -(weights * returns).mean()  # BUG GS604
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()

    values = critic(states[:-1].detach()).squeeze(-1)
    critic_loss = (weights * (values - returns.detach()).pow(2)).mean()  # BUG GS604
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
