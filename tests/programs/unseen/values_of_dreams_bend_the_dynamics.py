"""One backward for the world model's losses and the value's: the value is read off imagined states that still hang on
the dynamics, so the value's error trains the world model.

Round 14
Class: the line
"""

import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal

parser = argparse.ArgumentParser()
parser.add_argument("--belief-size", type=int, default=16)
parser.add_argument("--batch-size", type=int, default=9)
parser.add_argument("--chunk-size", type=int, default=8)
parser.add_argument("--planning-horizon", type=int, default=5)
parser.add_argument("--discount", type=float, default=0.9)
parser.add_argument("--updates", type=int, default=45)
args = parser.parse_args([])
OBS, ACT = 5, 2


class TransitionModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(OBS + ACT, args.belief_size)
        self.forecast = nn.Linear(args.belief_size, OBS)

    def forward(self, observations, actions):
        belief, beliefs = torch.zeros(args.batch_size, args.belief_size), []
        for observation, action in zip(observations, actions, strict=True):
            belief = self.cell(torch.cat([observation, action], dim=1), belief)
            beliefs.append(belief)
        return torch.stack(beliefs)

    def imagine(self, belief, actor, steps):
        beliefs = []
        for _ in range(steps):
            seen = self.forecast(belief)
            belief = self.cell(torch.cat([seen, actor(belief)], dim=1), belief)
            beliefs.append(belief)
        return torch.stack(beliefs)


def lambda_returns(rewards, values, discount, lam=0.9):
    running, returns = values[-1], []
    for t in reversed(range(len(rewards) - 1)):
        running = rewards[t] + discount * ((1 - lam) * values[t + 1] + lam * running)
        returns.append(running)
    return torch.stack(returns[::-1])


def replay():
    x, xs = torch.randn(args.batch_size, OBS), []
    actions = torch.rand(args.chunk_size, args.batch_size, ACT) * 2 - 1
    for action in actions:
        xs.append(x)
        x = 0.85 * x + 0.4 * F.pad(action, (0, OBS - ACT)) + 0.05 * torch.randn_like(x)
    observations = torch.stack(xs)
    return observations, actions, -observations[..., :ACT].pow(2).sum(-1)


torch.manual_seed(1419)
transition_model = TransitionModel()
reward_model = nn.Sequential(nn.Linear(args.belief_size, 24), nn.ELU(), nn.Linear(24, 1))
value_model = nn.Sequential(nn.Linear(args.belief_size, 24), nn.ELU(), nn.Linear(24, 1))
actor_model = nn.Sequential(nn.Linear(args.belief_size, 24), nn.ELU(), nn.Linear(24, ACT), nn.Tanh())
world = [*transition_model.parameters(), *reward_model.parameters()]
model_optimizer = torch.optim.Adam(world, lr=2e-3)
value_optimizer = torch.optim.Adam(value_model.parameters(), lr=2e-3)
actor_optimizer = torch.optim.Adam(actor_model.parameters(), lr=1e-3)
metrics = []
for _ in range(args.updates):
    observations, actions, rewards = replay()
    beliefs = transition_model(observations, actions)
    observation_loss = F.mse_loss(transition_model.forecast(beliefs[:-1]), observations[1:])
    reward_loss = F.mse_loss(reward_model(beliefs).squeeze(-1), rewards)

    starts = beliefs.detach().flatten(0, 1)
    imagined = transition_model.imagine(
        starts, lambda belief: actor_model(belief).detach(), args.planning_horizon
    )
    with torch.no_grad():
        returns = lambda_returns(
            reward_model(imagined).squeeze(-1), value_model(imagined).squeeze(-1), args.discount
        )
    value_dist = Normal(value_model(imagined[:-1]).squeeze(-1), 1.0)  # BUG GS304
    value_loss = -value_dist.log_prob(returns).mean()
    model_optimizer.zero_grad()
    value_optimizer.zero_grad()
    (observation_loss + reward_loss + value_loss).backward()
    nn.utils.clip_grad_norm_(world, 100.0)
    model_optimizer.step()
    value_optimizer.step()

    dreamt = transition_model.imagine(starts, actor_model, args.planning_horizon)
    dreamt_values = value_model(dreamt).squeeze(-1)
    actor_loss = -lambda_returns(reward_model(dreamt).squeeze(-1), dreamt_values, args.discount).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    metrics.append((observation_loss.item(), reward_loss.item(), value_loss.item(), actor_loss.item()))
print([round(x, 3) for x in metrics[-1]])
