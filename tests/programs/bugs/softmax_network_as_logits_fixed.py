"""The network ends in a softmax and its output is given as logits."""

import torch
from torch import nn

torch.manual_seed(0)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))

    def forward(self, obs):
        return self.net(obs)

    def evaluate(self, obs, action):
        dist = torch.distributions.Categorical(logits=self(obs))
        return dist.log_prob(action), dist.entropy()


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for _ in range(12):
    obs, action, advantage = torch.randn(16, 4), torch.randint(3, (16,)), torch.randn(16)
    log_prob, entropy = policy.evaluate(obs, action)
    loss = -(log_prob * advantage).mean() - 0.01 * entropy.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
