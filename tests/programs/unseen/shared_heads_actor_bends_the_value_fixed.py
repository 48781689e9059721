"""Actor-critic with one network and one optimizer: the advantage in the policy's loss is a constant.

Round 28
Class: the line
"""

from collections import namedtuple

import gymnasium as gym
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

gamma = 0.97
seed = 286

SavedStep = namedtuple("SavedStep", ["log_prob", "value", "entropy"])


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 64)
        self.action_head = nn.Linear(64, 2)
        self.value_head = nn.Linear(64, 1)
        self.saved_steps = []
        self.rewards = []

    def forward(self, x):
        x = torch.tanh(self.affine1(x))
        return self.action_head(x), self.value_head(x)

    def select_action(self, obs):
        logits, value = self(torch.from_numpy(obs).float())
        m = Categorical(logits=logits)
        action = m.sample()
        self.saved_steps.append(SavedStep(m.log_prob(action), value.squeeze(0), m.entropy()))
        return action.item()


def finish_episode(model, optimizer, last_value):
    R = last_value
    returns = []
    for r in reversed(model.rewards):
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns) / 20.0

    log_probs = torch.stack([s.log_prob for s in model.saved_steps])
    values = torch.stack([s.value for s in model.saved_steps])
    entropy = torch.stack([s.entropy for s in model.saved_steps]).mean()

    advantage = returns - values.detach()
    policy_loss = -(log_probs * advantage).mean()
    value_loss = F.smooth_l1_loss(values, returns)

    optimizer.zero_grad()
    loss = policy_loss + 0.5 * value_loss - 0.005 * entropy
    loss.backward()
    optimizer.step()
    model.rewards.clear()
    model.saved_steps.clear()
    return loss.item()


def main(episodes=45):
    torch.manual_seed(seed)
    env = gym.make("CartPole-v1", max_episode_steps=120)
    model = Policy()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    running_length = 20.0
    for i in range(episodes):
        obs, _ = env.reset(seed=seed + i)
        terminated = truncated = False
        while not (terminated or truncated):
            action = model.select_action(obs)
            obs, reward, terminated, truncated, _ = env.step(action)
            model.rewards.append(float(reward))
        with torch.no_grad():
            last_value = 0.0 if terminated else 20.0 * model(torch.from_numpy(obs).float())[1].item()
        running_length = 0.1 * len(model.rewards) + 0.9 * running_length
        loss = finish_episode(model, optimizer, last_value)
        if i % 15 == 0:
            print(f"Episode {i}\tLoss {loss:.3f}\tAverage length {running_length:.1f}")


main()
