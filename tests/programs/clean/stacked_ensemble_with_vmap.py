"""An ensemble of critics stacked into one set of parameters and run under `vmap`; its target is a stack of its own, and
the first half of the run trains from the members' weights, the second from a checkpoint of the stack."""

import copy

import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

torch.manual_seed(0)
members = [nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1)) for _ in range(4)]
base = copy.deepcopy(members[0]).to("meta")
params, buffers = stack_module_state(members)
target = {name: p.detach().clone() for name, p in params.items()}
optimizer = torch.optim.Adam(params.values(), lr=1e-3)


def one(p, b, x):
    return functional_call(base, (p, b), (x,)).squeeze(-1)


critics = vmap(one, (0, 0, None))
for step in range(20):
    state, reward, following = torch.randn(16, 5), torch.randn(16), torch.randn(16, 5)
    with torch.no_grad():
        goal = reward + 0.99 * critics(target, buffers, following).min(0).values
    loss = (critics(params, buffers, state) - goal).pow(2).mean(1).sum()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params.values(), 10.0)
    optimizer.step()
    with torch.no_grad():
        for name, p in params.items():
            target[name].lerp_(p, 0.005)
    if step == 10:
        saved = {name: p.detach().clone() for name, p in params.items()}
        with torch.no_grad():
            for name, p in params.items():
                p.copy_(saved[name])
