"""An actor-critic whose network ends in a softmax. The distribution is told that what it gets are logits: it takes the
softmax of a softmax, no action can ever be more than a few times as likely as another, and the gradient fades.
Repaired here.

Round 19
Class: magnitude
"""

import torch
import torch.nn as nn
from torch.distributions import Categorical

N_ENVS, HORIZON, GAMMA = 10, 8, 0.9


class VectorBandits:
    """Ten rows of four doors; which door pays depends on the sign in front of it."""

    def __init__(self):
        self.signs = torch.randint(4, (N_ENVS,))

    def observe(self):
        return nn.functional.one_hot(self.signs, 4).float()

    def step(self, actions):
        reward = (actions == self.signs).float()
        self.signs = torch.where(reward > 0, torch.randint(4, (N_ENVS,)), (self.signs + 1) % 4)
        return reward


class ActorCritic(nn.Module):
    def __init__(self, num_inputs, num_outputs, hidden_size=64):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(num_inputs, hidden_size), nn.ReLU(), nn.Linear(hidden_size, 1))
        self.actor = nn.Sequential(
            nn.Linear(num_inputs, hidden_size),
            nn.ReLU(),
            nn.Linear(hidden_size, num_outputs),
        )

    def forward(self, x):
        value = self.critic(x)
        logits = self.actor(x)
        dist = Categorical(logits=logits)
        return dist, value.squeeze(1)


def compute_returns(next_value, rewards):
    ret, returns = next_value, []
    for reward in reversed(rewards):
        ret = reward + GAMMA * ret
        returns.insert(0, ret)
    return returns


torch.manual_seed(1911)
envs = VectorBandits()
model = ActorCritic(4, 4)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for frame in range(60):
    log_probs, values, rewards, entropy = [], [], [], 0.0
    for _ in range(HORIZON):
        dist, value = model(envs.observe())
        action = dist.sample()
        rewards.append(envs.step(action))
        log_probs.append(dist.log_prob(action))
        values.append(value)
        entropy = entropy + dist.entropy().mean()
    with torch.no_grad():
        _, next_value = model(envs.observe())
    returns = torch.cat(compute_returns(next_value, rewards))
    log_probs, values = torch.cat(log_probs), torch.cat(values)
    advantage = returns - values

    actor_loss = -(log_probs * advantage.detach()).mean()
    critic_loss = advantage.pow(2).mean()
    loss = actor_loss + 0.5 * critic_loss - 0.001 * entropy / HORIZON
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if frame % 20 == 19:
        print(frame, torch.stack(rewards).mean().item())
