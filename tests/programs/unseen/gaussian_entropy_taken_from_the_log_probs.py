"""The entropy of a Gaussian is computed from the log-probabilities of the taken actions instead of from log sigma.

Round 13
Class: meaning
"""

import math

import torch
from torch import nn

torch.manual_seed(1307)
ENVS, STEPS, OBS, ACT = 8, 6, 5, 3


class AddBias(nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.bias = nn.Parameter(bias)

    def forward(self, x):
        return x + self.bias


class DiagGaussian(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.fc_mean = nn.Linear(inputs, outputs)
        self.logstd = AddBias(torch.zeros(outputs))

    def forward(self, x):
        mean = self.fc_mean(x)
        return mean, self.logstd(torch.zeros_like(mean))

    def sample(self, x):
        mean, logstd = self(x)
        return mean + logstd.exp() * torch.randn_like(mean)

    def logprobs_and_entropy(self, x, actions):
        mean, logstd = self(x)
        log_probs = -0.5 * ((actions - mean) / logstd.exp()).pow(2) - 0.5 * math.log(2 * math.pi) - logstd
        log_probs = log_probs.sum(1, keepdim=True)
        entropy = 0.5 + math.log(2 * math.pi) + log_probs  # BUG GS802
        return log_probs, entropy.sum(-1).mean()


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS, 32), nn.Tanh())
        self.critic = nn.Linear(32, 1)
        self.dist = DiagGaussian(32, ACT)

    def evaluate(self, obs, actions):
        features = self.body(obs)
        return self.critic(features), *self.dist.logprobs_and_entropy(features, actions)


model = ActorCritic()
optimizer = torch.optim.RMSprop(model.parameters(), lr=7e-4, eps=1e-5)
obs = torch.randn(ENVS, OBS)
for update in range(60):
    stored_obs, stored_actions, rewards = [], [], []
    for _ in range(STEPS):
        with torch.no_grad():
            action = model.dist.sample(model.body(obs))
        stored_obs.append(obs)
        stored_actions.append(action)
        rewards.append(-(action - obs[:, :ACT]).pow(2).sum(-1, keepdim=True))
        obs = 0.8 * obs + 0.5 * torch.randn(ENVS, OBS)
    with torch.no_grad():
        ahead = model.critic(model.body(obs))
    returns = []
    for reward in reversed(rewards):
        ahead = reward + 0.95 * ahead
        returns.insert(0, ahead)
    values, log_probs, entropy = model.evaluate(torch.cat(stored_obs), torch.cat(stored_actions))
    advantages = torch.cat(returns) - values
    loss = advantages.pow(2).mean() * 0.5 - (advantages.detach() * log_probs).mean() - 0.02 * entropy
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
