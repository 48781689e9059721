"""Dense parameters are clipped by norm, the sparse table is left alone."""

import torch
from torch import nn

torch.manual_seed(0)
table, head = nn.Embedding(40, 8, sparse=True), nn.Linear(8, 2)
table_opt, head_opt = torch.optim.SGD(table.parameters(), lr=0.1), torch.optim.SGD(head.parameters(), lr=0.05)
for _ in range(30):
    ids = torch.randint(0, 40, (16,))
    dist = torch.distributions.Categorical(logits=head(table(ids)))
    actions = dist.sample()
    reward = (actions == ids % 2).float() - 0.5
    loss = -(dist.log_prob(actions) * reward).mean()
    table_opt.zero_grad()
    head_opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(head.parameters(), 10.0)
    table_opt.step()
    head_opt.step()
print(float(loss))
