"""Vectorised A2C: the policy's loss lacks its minus, while the critic bootstraps as it should."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
ENVS, STEPS = 6, 5


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
        self.pi, self.v = nn.Linear(32, 3), nn.Linear(32, 1)

    def forward(self, obs):
        hidden = self.body(obs)
        return Categorical(logits=self.pi(hidden)), self.v(hidden).squeeze(-1)


def returns_of(rewards, last, gamma=0.95):
    out = []
    for reward in reversed(rewards):
        last = reward + gamma * last
        out.append(last)
    return torch.stack(out[::-1])


net = ActorCritic()
optimizer = torch.optim.RMSprop(net.parameters(), lr=7e-4)
obs = torch.randn(ENVS, 4)
for _ in range(14):
    log_probs, values, entropies, rewards = [], [], [], []
    for _ in range(STEPS):
        dist, value = net(obs)
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        values.append(value)
        entropies.append(dist.entropy())
        obs = 0.7 * obs + 0.1 * action.unsqueeze(-1) + 0.5 * torch.randn(ENVS, 4)
        rewards.append(obs.sum(-1).tanh())
    with torch.no_grad():
        returns = returns_of(rewards, net(obs)[1])
    log_prob, value = torch.stack(log_probs), torch.stack(values)
    advantage = returns - value
    policy_loss = -(log_prob * advantage.detach()).mean()
    loss = policy_loss + 0.5 * advantage.pow(2).mean() - 0.01 * torch.stack(entropies).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    optimizer.step()
