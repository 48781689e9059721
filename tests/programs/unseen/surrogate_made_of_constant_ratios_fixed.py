"""The ratios of the clipped surrogate carry the policy's gradient.

Round 15
Class: the line
"""

import copy

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1504)
ENVS, STEPS = 6, 16


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
        self.critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))


def calc_log_probs(net, batch):
    return Categorical(logits=net.actor(batch["obs"])).log_prob(batch["actions"])


class PPO:
    def __init__(self, clip_eps=0.2, epochs=3, minibatch=24):
        self.net = Policy()
        self.old_net = copy.deepcopy(self.net).requires_grad_(False)
        self.optim = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        self.clip_eps, self.epochs, self.minibatch = clip_eps, epochs, minibatch

    def calc_policy_loss(self, batch):
        log_probs = calc_log_probs(self.net, batch)
        old_log_probs = calc_log_probs(self.old_net, batch)
        ratios = torch.exp((log_probs - old_log_probs).clamp(-10, 10))
        advs = (batch["advs"] - batch["advs"].mean()) / (batch["advs"].std() + 1e-6)
        sur_1 = ratios * advs
        sur_2 = ratios.clamp(1 - self.clip_eps, 1 + self.clip_eps) * advs
        clip_loss = -torch.min(sur_1, sur_2).mean()
        entropy = Categorical(logits=self.net.actor(batch["obs"])).entropy().mean()
        return clip_loss - 0.01 * entropy

    def calc_value_loss(self, batch):
        return 0.5 * (self.net.critic(batch["obs"]).squeeze(-1) - batch["rets"]).pow(2).mean()

    def train(self, batch):
        self.old_net.load_state_dict(self.net.state_dict())
        for _ in range(self.epochs):
            for index in torch.randperm(len(batch["obs"])).split(self.minibatch):
                part = {name: values[index] for name, values in batch.items()}
                loss = self.calc_policy_loss(part) + self.calc_value_loss(part)
                self.optim.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
                self.optim.step()
        return loss.item()


class Points:
    """Several points on a plane, pushed left, right or not at all; the first coordinate should be near zero."""

    def __init__(self):
        self.state = torch.randn(ENVS, 4)

    def step(self, action):
        push = (action - 1).float()
        self.state = 0.9 * self.state + 0.1 * torch.randn(ENVS, 4)
        self.state[:, 0] += 0.3 * push
        return self.state.clone(), -self.state[:, 0].abs()


@torch.no_grad()
def rollout(env, net, gamma=0.95, lam=0.9):
    obs, rows = env.state.clone(), []
    for _ in range(STEPS):
        action = Categorical(logits=net.actor(obs)).sample()
        value = net.critic(obs).squeeze(-1)
        following, reward = env.step(action)
        rows.append((obs, action, reward, value))
        obs = following
    next_value, advantage, advs = net.critic(obs).squeeze(-1), torch.zeros(ENVS), []
    for _, _, reward, value in reversed(rows):
        advantage = reward + gamma * next_value - value + gamma * lam * advantage
        advs.append(advantage)
        next_value = value
    advs = torch.stack(advs[::-1])
    stacked = [torch.stack(column) for column in zip(*rows)]
    batch = {"obs": stacked[0], "actions": stacked[1], "advs": advs, "rets": advs + stacked[3]}
    return {name: values.flatten(0, 1) for name, values in batch.items()}, stacked[2].mean().item()


env, algorithm = Points(), PPO()
for iteration in range(12):
    batch, reward = rollout(env, algorithm.net)
    print(iteration, reward, algorithm.train(batch))
