"""To save memory, hooks step every parameter as soon as its gradient is there, and drop the gradient; the limit of
the norm comes when the backward is over and finds none.

Round 12
Class: magnitude
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(1206)
LIMIT = 1.0


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(7, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.mean = nn.Linear(32, 2)
        self.log_std = nn.Parameter(torch.full((2,), -0.5))
        self.value = nn.Linear(32, 1)

    def forward(self, obs):
        hidden = self.body(obs)
        return Normal(self.mean(hidden), self.log_std.exp()), self.value(hidden).squeeze(-1)


class SteppedInBackward:
    """One small optimizer for every parameter, run by a hook."""

    def __init__(self, network, lr):
        self.optimizers = {}
        for parameter in network.parameters():
            self.optimizers[parameter] = torch.optim.SGD([parameter], lr=lr)
            parameter.register_post_accumulate_grad_hook(self.step)

    def step(self, parameter):
        self.optimizers[parameter].step()
        self.optimizers[parameter].zero_grad()


def collect(network, steps=64):
    with torch.no_grad():
        obs = torch.randn(steps, 7)
        dist, value = network(obs)
        action = dist.sample()
        reward = -(action - 2 * obs[:, :2]).pow(2).sum(-1)
        advantage = reward - value
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        return obs, action, dist.log_prob(action).sum(-1), advantage, reward


network = ActorCritic()
SteppedInBackward(network, lr=1e-2)
for iteration in range(15):
    obs, action, old_log_prob, advantage, goal = collect(network)
    for epoch in range(3):
        dist, value = network(obs)
        ratio = (dist.log_prob(action).sum(-1) - old_log_prob).exp()
        surrogate = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        loss = -surrogate + 0.5 * (value - goal).pow(2).mean() - 0.01 * dist.entropy().sum(-1).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), LIMIT)  # BUG GS504 GS505 GS506
print("loss", loss.item())
