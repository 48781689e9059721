"""A mixture of Gaussians as a world model: the log-weights of `[T, B, K]` are normalised along the sequences.

Round 11
Class: axes
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(1107)
K = 5


class MixtureModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 32)
        self.weights, self.means, self.stds = nn.Linear(32, K), nn.Linear(32, K), nn.Linear(32, K)

    def forward(self, x):
        hidden, _ = self.rnn(x)
        log_weights = torch.log_softmax(self.weights(hidden), dim=-2)  # BUG GS604
        return log_weights, Normal(self.means(hidden), self.stds(hidden).clamp(-3, 2).exp())


model = MixtureModel()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for update in range(40):
    x = torch.randn(9, 16, 3).cumsum(0)
    log_weights, parts = model(x[:-1])
    log_likelihood = torch.logsumexp(log_weights + parts.log_prob(x[1:, :, :1]), -1)
    optimizer.zero_grad()
    (-log_likelihood.mean()).backward()
    optimizer.step()
