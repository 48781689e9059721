"""Every loss differentiates by its own optimizer's parameters; gradients are put there by hand and clipped there, long
after operations are no longer traced."""

import torch
from torch import nn

torch.manual_seed(0)
critic, actor = nn.Linear(4, 1), nn.Linear(4, 2)
optimizers = [torch.optim.Adam(net.parameters(), lr=1e-3) for net in (critic, actor)]


def differentiate(optimizer, loss):
    params = optimizer.param_groups[0]["params"]
    for p, grad in zip(params, torch.autograd.grad(loss, params)):
        p.grad = grad
    nn.utils.clip_grad_norm_(params, 1.0)


for _ in range(50):
    obs, returns = torch.randn(16, 4), torch.randn(16, 1)
    differentiate(optimizers[0], (critic(obs) - returns).pow(2).mean())
    action = torch.randint(2, (16, 1))
    log_prob = actor(obs).log_softmax(-1).gather(1, action)
    differentiate(optimizers[1], -(log_prob * (returns - critic(obs)).detach()).mean())
    for optimizer in optimizers:
        optimizer.step()
