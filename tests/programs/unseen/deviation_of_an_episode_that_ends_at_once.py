"""REINFORCE with the returns of every episode brought to mean zero and deviation one. An episode that ends with its first
step has one return, whose deviation is not a number, and so is every weight of the policy after the update. The
normalisation is that of reinforce.py in pytorch/examples (the file of pytorch/examples#151).

Round 25
Class: magnitude
"""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(2523)
rng = np.random.default_rng(2523)


class IcyPond:
    """Cross the ice before it melts; it may break under any step, now and then under the first."""

    width = 6

    def reset(self):
        self.place, self.t, self.crack = 0, 0, rng.random(self.width) * 0.25
        return self.observe()

    def observe(self):
        here = np.eye(self.width + 1, dtype=np.float32)[self.place]
        return np.concatenate([here, [self.crack[min(self.place, self.width - 1)]]]).astype(np.float32)

    def step(self, action):
        risk = self.crack[self.place] * (1.5 if action == 1 else 0.5)
        if rng.random() < risk:
            return self.observe(), -1.0, True
        self.t += 1
        if action == 1:
            self.place += 1
        if self.place == self.width:
            return self.observe(), 3.0, True
        return self.observe(), -0.05, self.t == 30


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(IcyPond.width + 2, 64)
        self.affine2 = nn.Linear(64, 2)
        self.saved_log_probs, self.rewards = [], []

    def forward(self, x):
        return F.log_softmax(self.affine2(F.relu(self.affine1(x))), dim=-1)


policy = Policy()
optimizer = optim.Adam(policy.parameters(), lr=5e-3)
eps, gamma = 1e-8, 0.98


def select_action(state):
    log_probs = policy(torch.from_numpy(state))
    with torch.no_grad():
        gumbel = -torch.log(-torch.log(torch.rand(2) + 1e-9))
        action = int((log_probs + gumbel).argmax())
    policy.saved_log_probs.append(log_probs[action])
    return action


def finish_episode():
    R, returns = 0.0, []
    for r in policy.rewards[::-1]:
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)  # BUG GS503
    policy_loss = []
    for log_prob, weight in zip(policy.saved_log_probs, returns):
        policy_loss.append(-log_prob * weight)
    optimizer.zero_grad()
    policy_loss = torch.stack(policy_loss).sum()
    policy_loss.backward()
    optimizer.step()
    policy.rewards.clear()
    policy.saved_log_probs.clear()


def main():
    env, running_reward = IcyPond(), 0.0
    for _ in range(60):
        state, ep_reward, done = env.reset(), 0.0, False
        while not done:
            action = select_action(state)
            state, reward, done = env.step(action)
            policy.rewards.append(reward)
            ep_reward += reward
        running_reward = 0.05 * ep_reward + 0.95 * running_reward
        finish_episode()


if __name__ == "__main__":
    main()
