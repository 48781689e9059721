"""The inner step of MAML for reinforcement learning builds the adapted weights from the meta-weights themselves, with the
graph of the inner gradient kept. See uvm-neurobotics-lab/ANML#3 and dragen1860/MAML-Pytorch#32.

Round 25
Class: zero in part
"""

from collections import OrderedDict

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal
from torch.func import functional_call

torch.manual_seed(2509)
rng = np.random.default_rng(2509)
INNER_LR, META_BATCH, EPISODES, HORIZON, GAMMA = 0.05, 4, 10, 5, 0.95


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2))
        self.log_std = nn.Parameter(torch.full((2,), -0.5))

    def forward(self, obs):
        return Normal(self.net(obs), self.log_std.exp())


class PointTask:
    """Walk on the plane to a goal that the observation does not show."""

    def __init__(self):
        angle = rng.uniform(0, np.pi)
        self.goal = np.array([np.cos(angle), np.sin(angle)])

    def reset(self):
        self.pos = 0.1 * rng.normal(size=(EPISODES, 2))
        return self.pos.astype(np.float32)

    def step(self, action):
        self.pos = self.pos + 0.2 * np.clip(action, -1, 1)
        reward = -np.linalg.norm(self.pos - self.goal, axis=1)
        return self.pos.astype(np.float32), reward.astype(np.float32)


def rollout(policy, params, task):
    observations, actions, rewards = [], [], []
    obs = task.reset()
    for _ in range(HORIZON):
        with torch.no_grad():
            action = functional_call(policy, params, (torch.from_numpy(obs),)).sample()
        observations.append(torch.from_numpy(obs))
        actions.append(action)
        obs, reward = task.step(action.numpy())
        rewards.append(torch.from_numpy(reward))
    returns, running = [], torch.zeros(EPISODES)
    for reward in reversed(rewards):
        running = reward + GAMMA * running
        returns.insert(0, running)
    returns = torch.stack(returns)
    advantage = returns - returns.mean(1, keepdim=True)  # a baseline for every time step
    return torch.stack(observations), torch.stack(actions), advantage / (advantage.std() + 1e-6)


def surrogate(policy, params, batch):
    obs, actions, advantage = batch
    log_prob = functional_call(policy, params, (obs,)).log_prob(actions).sum(-1)
    return -(log_prob * advantage).mean()


def adapt(policy, params, batch):
    loss = surrogate(policy, params, batch)
    grads = torch.autograd.grad(loss, list(params.values()), create_graph=True)
    return OrderedDict((name, p - INNER_LR * g) for (name, p), g in zip(params.items(), grads))


def main():
    policy = Policy()
    meta_optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    for _ in range(25):
        outer = []
        for _ in range(META_BATCH):
            task = PointTask()
            params = OrderedDict(policy.named_parameters())
            adapted = adapt(policy, params, rollout(policy, params, task))
            outer.append(surrogate(policy, adapted, rollout(policy, adapted, task)))
        meta_loss = torch.stack(outer).mean()
        meta_optimizer.zero_grad()
        meta_loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        meta_optimizer.step()


if __name__ == "__main__":
    main()
