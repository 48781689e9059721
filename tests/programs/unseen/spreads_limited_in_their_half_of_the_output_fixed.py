"""An expert is trained with soft actor-critic before anybody imitates it. The policy's output is cut into means and
log-spreads, and the spreads are limited in place: the halves are views of one tensor that were made together, and
such a view may not be written to.
Repaired here.

Round 21
Class: forward errors
"""

import copy
import math

import gymnasium as gym
import numpy as np
import torch
from torch import nn


def build_mlp(input_dim, output_dim, hidden_units=(64, 64)):
    layers, units = [], input_dim
    for next_units in hidden_units:
        layers += [nn.Linear(units, next_units), nn.ReLU(inplace=True)]
        units = next_units
    layers.append(nn.Linear(units, output_dim))
    return nn.Sequential(*layers)


def reparameterize(means, log_stds):
    noises = torch.randn_like(means)
    us = means + noises * log_stds.exp()
    actions = torch.tanh(us)
    gaussian = (-0.5 * noises.pow(2) - log_stds).sum(-1, keepdim=True) - 0.5 * math.log(
        2 * math.pi
    ) * log_stds.size(-1)
    return actions, gaussian - torch.log(1 - actions.pow(2) + 1e-6).sum(-1, keepdim=True)


class StateDependentPolicy(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.net = build_mlp(state_dim, 2 * action_dim)

    def forward(self, states):
        return torch.tanh(self.net(states).chunk(2, dim=-1)[0])

    def sample(self, states):
        means, log_stds = self.net(states).chunk(2, dim=-1)
        return reparameterize(means, log_stds.clamp(-20, 2))


class TwinnedStateActionFunction(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.net1, self.net2 = build_mlp(state_dim + action_dim, 1), build_mlp(state_dim + action_dim, 1)

    def forward(self, states, actions):
        xs = torch.cat([states, actions], dim=-1)
        return self.net1(xs), self.net2(xs)


class SAC:
    def __init__(self, state_dim, action_dim, gamma=0.95, alpha=0.1, tau=0.02, batch_size=64):
        self.actor = StateDependentPolicy(state_dim, action_dim)
        self.critic = TwinnedStateActionFunction(state_dim, action_dim)
        self.critic_target = copy.deepcopy(self.critic).requires_grad_(False)
        self.optim_actor = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.optim_critic = torch.optim.Adam(self.critic.parameters(), lr=2e-3)
        self.gamma, self.alpha, self.tau, self.batch_size = gamma, alpha, tau, batch_size

    def explore(self, state):
        with torch.no_grad():
            return self.actor.sample(torch.as_tensor(state).unsqueeze(0))[0].squeeze(0).numpy()

    def update(self, states, actions, rewards, ends, next_states):
        self.update_critic(states, actions, rewards, ends, next_states)
        self.update_actor(states)
        with torch.no_grad():
            for target, source in zip(self.critic_target.parameters(), self.critic.parameters()):
                target.lerp_(source, self.tau)

    def update_critic(self, states, actions, rewards, ends, next_states):
        curr_qs1, curr_qs2 = self.critic(states, actions)
        with torch.no_grad():
            next_actions, log_pis = self.actor.sample(next_states)
            next_qs = torch.min(*self.critic_target(next_states, next_actions)) - self.alpha * log_pis
        target_qs = rewards + (1.0 - ends) * self.gamma * next_qs
        loss_critic = (curr_qs1 - target_qs).pow(2).mean() + (curr_qs2 - target_qs).pow(2).mean()
        self.optim_critic.zero_grad()
        loss_critic.backward()
        self.optim_critic.step()

    def update_actor(self, states):
        actions, log_pis = self.actor.sample(states)
        loss_actor = self.alpha * log_pis.mean() - torch.min(*self.critic(states, actions)).mean()
        self.optim_actor.zero_grad()
        loss_actor.backward()
        self.optim_actor.step()


if __name__ == "__main__":
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env = gym.make("Pendulum-v1")
    algo, memory = SAC(3, 1), []
    state, _ = env.reset(seed=0)
    for step in range(1, 601):
        action = algo.explore(state)
        next_state, reward, terminated, truncated, _ = env.step(2.0 * action)
        memory.append((state, action, [reward / 8.0], [terminated], next_state))
        state = env.reset()[0] if terminated or truncated else next_state
        if step >= 100 and step % 2 == 0:
            rows = [memory[i] for i in rng.integers(len(memory), size=algo.batch_size)]
            algo.update(*(torch.as_tensor(np.array(column), dtype=torch.float32) for column in zip(*rows)))
        if step % 200 == 0:
            print(f"step {step}: mean reward {8 * np.mean([row[2] for row in memory[-200:]]):.2f}")
