"""Meta-RL: the context encoder only makes the first hidden state, and .data cuts it off there."""

import torch
from torch import nn

torch.manual_seed(0)


class MetaPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.context = nn.Linear(7, 12)
        self.cell = nn.GRUCell(3, 12)
        self.head = nn.Linear(12, 2)

    def forward(self, context, sequence):
        state = torch.tanh(self.context(context)).data  # BUG GS202
        logits = []
        for obs in sequence:
            state = self.cell(obs, state)
            logits.append(self.head(state))
        return torch.stack(logits)


policy = MetaPolicy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for _ in range(10):
    context, sequence = torch.randn(8, 7), torch.randn(5, 8, 3)
    actions, advantages = torch.randint(2, (5, 8)), torch.randn(5, 8)
    log_prob = torch.distributions.Categorical(logits=policy(context, sequence)).log_prob(actions)
    loss = -(log_prob * advantages).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
