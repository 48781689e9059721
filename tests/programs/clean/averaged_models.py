"""Averaged weights: an exponential average that teaches the policy, and a stochastic one for the end, with its batch
statistics made anew."""

import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn, update_bn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
ema = AveragedModel(policy, multi_avg_fn=get_ema_multi_avg_fn(0.99))
swa = AveragedModel(policy)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.05)
schedule = SWALR(optimizer, swa_lr=0.01)
for step in range(30):
    states, actions = torch.randn(16, 4), torch.randint(2, (16,))
    with torch.no_grad():
        soft = ema(states).softmax(-1)
    logits = policy(states)
    loss = nn.functional.cross_entropy(logits, actions)
    loss = loss + 0.1 * nn.functional.kl_div(logits.log_softmax(-1), soft, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update_parameters(policy)
    if step > 15:
        swa.update_parameters(policy)
        schedule.step()
update_bn([torch.randn(16, 4) for _ in range(4)], swa)
