"""A policy of spiking units: the step of a spike has the slope of a steep sigmoid, written out in exponentials. A
unit far below its threshold makes the exponential infinite, and the slope a quotient of two infinities.

Round 18
Class: custom functions
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1818)
THRESHOLD, DECAY, TICKS = 1.0, 0.7, 5


class SigmoidSpike(torch.autograd.Function):
    """A step forward; the derivative of sigmoid(slope * x) backward."""

    @staticmethod
    def forward(ctx, x, slope):
        ctx.save_for_backward(x)
        ctx.slope = slope
        return (x > 0).float()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        e = torch.exp(-ctx.slope * x)  # BUG GS503
        return grad_output * ctx.slope * e / (e + 1) ** 2, None  # BUG GS503


class Leaky(nn.Module):
    """Leaky units: they gather input, fire, and lose what they had gathered."""

    def __init__(self, inputs, outputs, slope=25.0):
        super().__init__()
        self.synapses = nn.Linear(inputs, outputs)
        self.slope = slope

    def start(self, batch):
        return torch.zeros(batch, self.synapses.out_features)

    def forward(self, x, potential):
        potential = DECAY * potential + self.synapses(x)
        spikes = SigmoidSpike.apply(potential - THRESHOLD, self.slope)  # BUG GS503
        return spikes, potential - spikes.detach() * THRESHOLD


class SpikingPolicy(nn.Module):
    def __init__(self, obs, actions):
        super().__init__()
        self.first, self.second = Leaky(obs, 48), Leaky(48, 32)
        self.readout = nn.Linear(32, actions)

    def forward(self, obs):
        one, two, counts = self.first.start(len(obs)), self.second.start(len(obs)), 0
        for _ in range(TICKS):
            spikes, one = self.first(obs, one)
            spikes, two = self.second(spikes, two)
            counts = counts + spikes
        return Categorical(logits=self.readout(counts / TICKS))


class Bandit:
    """Contexts of some size; the arm that pays is the largest coordinate's."""

    def __init__(self, rng):
        self.rng = rng

    def contexts(self, count):
        return torch.tensor(self.rng.normal(0, 4.0, size=(count, 4)), dtype=torch.float32)

    def pay(self, contexts, arms):
        return (contexts.argmax(1) == arms).float()


policy, bandit = SpikingPolicy(4, 4), Bandit(np.random.default_rng(1818))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
baseline = 0.25
for update in range(60):
    contexts = bandit.contexts(40)
    dist = policy(contexts)
    arms = dist.sample()
    rewards = bandit.pay(contexts, arms)
    loss = -((rewards - baseline) * dist.log_prob(arms)).mean() - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    baseline = 0.9 * baseline + 0.1 * rewards.mean().item()
print("mean reward", baseline)
