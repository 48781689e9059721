"""A spiking policy for a one-step control task, whose neurons are meant to learn at which potential they fire. The
step of a spike has a surrogate slope for the potential; for the threshold, its second input, the backward returns
nothing, and every neuron keeps the threshold it was given.

Round 21
Class: custom functions
"""

import torch
from torch import nn
from torch.distributions import Categorical


class TriangleSpike(torch.autograd.Function):
    """Forward: one where the potential has reached the threshold. Backward: a triangle around it."""

    @staticmethod
    def forward(ctx, potential, threshold, width):
        ctx.save_for_backward(potential, threshold)
        ctx.width = width
        return (potential >= threshold).to(potential)

    @staticmethod
    def backward(ctx, grad_output):
        potential, threshold = ctx.saved_tensors
        distance = (potential - threshold).abs() / ctx.width
        grad_potential = grad_output * (1.0 - distance).clamp(min=0.0) / ctx.width
        return grad_potential, None, None  # BUG GS211


class ALIFNode(nn.Module):
    """Leaky integrate-and-fire neurons with a leak that is fixed and a threshold that is learned."""

    def __init__(self, features, tau=2.0, v_threshold=1.0, width=1.0):
        super().__init__()
        self.tau, self.width = tau, width
        self.v_threshold = nn.Parameter(torch.full((features,), v_threshold))
        self.reset()

    def reset(self):
        self.v = 0.0

    def forward(self, current):
        self.v = self.v + (current - self.v) / self.tau
        spike = TriangleSpike.apply(self.v, self.v_threshold, self.width)  # BUG GS211
        self.v = self.v * (1.0 - spike.detach())
        return spike


class SpikingPolicy(nn.Module):
    def __init__(self, n_obs, n_actions, hidden=64, ticks=6):
        super().__init__()
        self.ticks = ticks
        self.fc1, self.node = nn.Linear(n_obs, hidden), ALIFNode(hidden)
        self.fc2 = nn.Linear(hidden, n_actions)

    def forward(self, obs):
        self.node.reset()
        current, counts = 3.0 * self.fc1(obs), 0.0
        for _ in range(self.ticks):
            counts = counts + self.node(current)
        return self.fc2(counts / self.ticks)


class Sorting:
    """A parcel has three readings; it belongs into the bin of the largest, and a near miss earns a little."""

    def sample(self, n):
        self.readings = torch.rand(n, 3) * 2 - 1
        noise = 0.05 * torch.randn(n, 3)
        return torch.cat([self.readings + noise, self.readings - self.readings.roll(1, -1)], -1)

    def reward(self, action):
        best = self.readings.max(-1).values
        chosen = self.readings.gather(-1, action[:, None]).squeeze(-1)
        return 1.0 - (best - chosen)


def train(updates=200, batch=128):
    torch.manual_seed(12)
    env, policy = Sorting(), SpikingPolicy(6, 3)
    optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
    baseline = 0.0
    for update in range(updates):
        obs = env.sample(batch)
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        reward = env.reward(action)
        advantage = reward - baseline
        loss = -(dist.log_prob(action) * advantage).mean() - 0.005 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        baseline += 0.1 * (reward.mean().item() - baseline)
        if update % 50 == 49:
            spread = policy.node.v_threshold.std().item()
            print(f"update {update + 1}: reward {reward.mean():.3f}, spread of the thresholds {spread:.4f}")


if __name__ == "__main__":
    train()
