"""A trust-region method takes the gradient of its surrogate by hand, but the ratio was detached for a log first.

Round 3
Class: gradients by hand
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(303)
policy = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 3))


def flat(gradients):
    return torch.cat([g.reshape(-1) for g in gradients])


def surrogate(obs, action, old, advantage, log):
    ratio = (Categorical(logits=policy(obs)).log_prob(action) - old).exp()
    ratio = ratio.detach()  # BUG GS201 GS202
    log.append(ratio.mean().item())
    return (ratio * advantage).mean()


log = []
for update in range(30):
    obs = torch.randn(64, 4)
    with torch.no_grad():
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        old = dist.log_prob(action)
    reward = (action == obs[:, :3].argmax(1)).float()
    gain = surrogate(obs, action, old, reward - reward.mean(), log)
    step = flat(torch.autograd.grad(gain, policy.parameters()))
    step = 0.1 * step / step.norm()
    start = 0
    with torch.no_grad():
        for p in policy.parameters():
            p += step[start : start + p.numel()].view_as(p)
            start += p.numel()
