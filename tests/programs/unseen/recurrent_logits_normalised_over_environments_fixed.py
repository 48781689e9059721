"""A recurrent policy with steps first: its log-probabilities are normalised over the environments.
Repaired here.

Round 5
Class: axes
"""

import torch
from torch import nn

torch.manual_seed(507)

rnn, head = nn.GRU(5, 24), nn.Linear(24, 4)
optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()], lr=1e-3)
for update in range(30):
    obs = torch.randn(12, 8, 5)
    logits = head(rnn(obs)[0])
    log_probs = torch.log_softmax(logits, dim=2)
    action = torch.distributions.Categorical(logits=logits.detach()).sample()
    advantage = (action == obs[..., :4].argmax(-1)).float() - 0.25
    loss = -(log_probs.gather(2, action.unsqueeze(2)).squeeze(2) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
