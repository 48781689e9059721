"""The repaired twin of a program in which the following goes wrong.
Actor-critic on episodes: in the update the step comes before the backward, after the gradients were cleared.
Every step consumes nothing, and the next clearing throws away what the backward had left. After
pytorch/tutorials#3909 and vy007vikas/PyTorch-ActorCriticRL#7 (the order of clear, backward and step).

Round 27
Class: the line
"""

import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

env_seed = 2712
gamma = 0.97
random.seed(env_seed)
torch.manual_seed(env_seed)


class HillCar:
    """A car in a valley has to swing itself over the right hill."""

    def reset(self):
        self.x, self.v, self.t = random.uniform(-0.6, -0.4), 0.0, 0
        return [self.x, 10 * self.v, 0.0]

    def step(self, action):
        self.t += 1
        self.v += 0.006 * (action - 1) - 0.004 * math.cos(3 * self.x)
        self.v = max(-0.1, min(0.1, self.v))
        self.x = max(-1.2, self.x + self.v)
        done = self.x > 0.5 or self.t == 40
        reward = 1.0 if self.x > 0.5 else abs(self.v)
        return [self.x, 10 * self.v, self.t / 40], reward, done


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(3, 64)
        self.action_head = nn.Linear(64, 3)
        self.value_head = nn.Linear(64, 1)
        self.saved_actions = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.affine1(x))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


model = Policy()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
env = HillCar()


def select_action(state):
    probs, state_value = model(torch.tensor(state))
    m = Categorical(probs)
    action = m.sample()
    model.saved_actions.append((m.log_prob(action), state_value))
    return action.item()


def finish_episode():
    R = 0
    policy_losses = []
    value_losses = []
    returns = []
    for r in model.rewards[::-1]:
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    for (log_prob, value), R in zip(model.saved_actions, returns):
        advantage = R - value.item()
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(value, R.unsqueeze(0)))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss.backward()
    optimizer.step()
    del model.rewards[:]
    del model.saved_actions[:]
    return loss.item()


def main():
    running_reward = 0.0
    for i_episode in range(30):
        state, ep_reward, done = env.reset(), 0.0, False
        while not done:
            action = select_action(state)
            state, reward, done = env.step(action)
            model.rewards.append(reward)
            ep_reward += reward
        running_reward = 0.1 * ep_reward + 0.9 * running_reward
        loss = finish_episode()
        if i_episode % 10 == 0:
            print(f"Episode {i_episode}\tlast {ep_reward:.2f}\taverage {running_reward:.2f}\tloss {loss:.3f}")


main()
