"""REINFORCE after a well-known example: the policy keeps the log-probabilities and the rewards of its episode. At the
end the rewards are emptied in the policy, the log-probabilities only in a variable of the function.

Round 18
Class: forward errors
"""

from itertools import count

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.distributions import Categorical

GAMMA = 0.99
torch.manual_seed(543)
rng = np.random.default_rng(543)
eps = np.finfo(np.float32).eps.item()


class Pole:
    """A pole on a cart, without friction."""

    def reset(self):
        self.state = rng.uniform(-0.05, 0.05, size=4)
        return self.state.astype(np.float32)

    def step(self, action):
        x, speed, angle, spin = self.state
        force = 10.0 if action == 1 else -10.0
        pull = (force + 0.05 * spin**2 * np.sin(angle)) / 1.1
        turn = (9.8 * np.sin(angle) - np.cos(angle) * pull) / (0.5 * (4 / 3 - 0.1 * np.cos(angle) ** 2 / 1.1))
        push = pull - 0.05 * turn * np.cos(angle) / 1.1
        self.state = np.array(
            [x + 0.02 * speed, speed + 0.02 * push, angle + 0.02 * spin, spin + 0.02 * turn]
        )
        done = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21
        return self.state.astype(np.float32), 1.0, done


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 64)
        self.affine2 = nn.Linear(64, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        return self.affine2(F.relu(self.affine1(x)))


env = Pole()
policy = Policy()
optimizer = optim.Adam(policy.parameters(), lr=1e-2)


def select_action(state):
    state = torch.from_numpy(state).unsqueeze(0)
    m = Categorical(logits=policy(state))
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    return action.item()


def finish_episode():
    R = 0
    policy_loss = []
    returns = []
    for r in policy.rewards[::-1]:
        R = r + GAMMA * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    for log_prob, R in zip(policy.saved_log_probs, returns):
        policy_loss.append(-log_prob * R)
    optimizer.zero_grad()
    policy_loss = torch.cat(policy_loss).sum()
    policy_loss.backward()  # BUG GS402
    optimizer.step()
    policy.rewards, saved_log_probs = [], []  # BUG GS402 GS305


running_reward = 10
for i_episode in range(40):
    state, ep_reward = env.reset(), 0
    for t in count(1):
        action = select_action(state)
        state, reward, done = env.step(action)
        policy.rewards.append(reward)
        ep_reward += reward
        if done or t == 120:
            break
    running_reward = 0.05 * ep_reward + 0.95 * running_reward
    finish_episode()
    if i_episode % 10 == 0:
        print(f"Episode {i_episode}\tLast reward: {ep_reward:.2f}\tAverage reward: {running_reward:.2f}")
