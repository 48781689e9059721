"""Actor and critic with eligibility traces, updated by hand after every step of a corridor. The traces take up the
gradients of the value and of the log-probability; those are never cleared, so every trace takes up all the gradients
since the run began.

Round 19
Class: gradients by hand
"""

import torch
from torch import nn

torch.manual_seed(1909)

GAMMA, LAMBDA, LENGTH = 0.95, 0.8, 9


class Corridor:
    def reset(self):
        self.cell, self.t = LENGTH // 2, 0
        return self.observe()

    def observe(self):
        return nn.functional.one_hot(torch.tensor(self.cell), LENGTH).float()

    def step(self, action):
        slip = torch.rand(()) < 0.1
        self.cell = max(0, self.cell + (1 if (action == 1) != bool(slip) else -1))
        self.t += 1
        done = self.cell >= LENGTH - 1
        self.cell = min(self.cell, LENGTH - 1)
        return self.observe(), (1.0 if done else -0.02), done


class Traces:
    """One trace for every parameter, and the hand-made step along it."""

    def __init__(self, net, lr):
        self.net, self.lr = net, lr
        self.clear()

    def clear(self):
        self.e = [torch.zeros_like(p) for p in self.net.parameters()]

    def add(self, output):
        output.backward()  # BUG GS401
        for e, p in zip(self.e, self.net.parameters()):
            e.mul_(GAMMA * LAMBDA).add_(p.grad)  # BUG GS401

    @torch.no_grad()
    def step(self, delta):
        for e, p in zip(self.e, self.net.parameters()):
            p.add_(e, alpha=self.lr * delta)  # BUG GS401


actor = nn.Sequential(nn.Linear(LENGTH, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(LENGTH, 16), nn.Tanh(), nn.Linear(16, 1))
actor_traces, critic_traces = Traces(actor, lr=0.01), Traces(critic, lr=0.02)
env = Corridor()
lengths = []
for episode in range(15):
    obs, done = env.reset(), False
    actor_traces.clear()
    critic_traces.clear()
    while not done and env.t < 25:
        dist = torch.distributions.Categorical(logits=actor(obs))
        action = dist.sample()
        next_obs, reward, done = env.step(action.item())
        value = critic(obs).squeeze()
        with torch.no_grad():
            following = 0.0 if done else critic(next_obs).item()
        delta = reward + GAMMA * following - value.item()
        critic_traces.add(value)
        actor_traces.add(dist.log_prob(action))
        critic_traces.step(delta)
        actor_traces.step(delta)
        obs = next_obs
    lengths.append(env.t)
print("lengths", lengths)
