"""The helper that makes tensors is right for observations and rewards; for log-probabilities it cuts the graph."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
value = nn.Linear(4, 1)
optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=1e-3)


def to_tensor(values):
    return torch.tensor(values, dtype=torch.float32)


for episode in range(20):
    observations, log_probs, rewards = [], [], []
    for _ in range(6):
        obs = torch.randn(4)
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        observations.append(obs.tolist())
        log_probs.append(dist.log_prob(action))
        rewards.append(float(action == 1))
    gain = to_tensor(rewards) - value(to_tensor(observations)).squeeze(-1)
    chosen = torch.stack(log_probs)
    loss = -(chosen * gain.detach()).mean() + gain.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
