"""REDQ in one call: frozen, trained and target critics are stacked, mapped over, and taken apart again."""

import torch
from torch.func import functional_call, stack_module_state

critics = [torch.nn.Linear(4, 1) for _ in range(3)]
weights, _ = stack_module_state(critics)
weights = {n: torch.nn.Parameter(w) for n, w in weights.items()}
targets = {n: w.detach().clone() for n, w in weights.items()}
actor = torch.nn.Linear(3, 1)
opt = torch.optim.SGD([*actor.parameters(), *weights.values()], lr=0.01)


def q(params, x):
    return functional_call(critics[0], params, (x,)).squeeze(-1)


for _ in range(8):
    s, a, r, s2 = torch.randn(8, 3), torch.randn(8, 1), torch.randn(8), torch.randn(8, 3)
    with torch.no_grad():
        a2 = actor(s2).tanh()
    x = torch.stack([torch.cat([s, actor(s).tanh()], -1), torch.cat([s, a], -1), torch.cat([s2, a2], -1)])
    frozen = {n: w.detach() for n, w in weights.items()}
    all_weights = {n: torch.stack([frozen[n], w, targets[n]]) for n, w in weights.items()}
    values = torch.vmap(torch.vmap(q, (0, None)))(all_weights, x)
    for_actor, predicted, after = values.unbind(0)
    y = r + 0.9 * after.min(0).values
    loss = torch.nn.functional.mse_loss(predicted, y.expand_as(predicted)) - for_actor.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    for n, w in weights.items():
        targets[n].lerp_(w.detach(), 0.05)
