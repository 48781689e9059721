"""A correct training script that meets every tap; it prints a digest of its weights and random states."""

import copy
import hashlib
import random
import warnings

import numpy as np
import torch
from torch import nn

random.seed(1)
np.random.seed(2)
torch.manual_seed(3)


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2.0

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2.0


q = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
target = copy.deepcopy(q)
target.requires_grad_(False)
actor = nn.Linear(4, 2)
opt = torch.optim.Adam(q.parameters(), lr=1e-2)
actor_opt = torch.optim.SGD(actor.parameters(), lr=1e-2)
for step in range(28):
    s, s2 = torch.randn(16, 4), torch.from_numpy(np.random.randn(16, 4)).float()
    a = torch.distributions.Categorical(logits=q(s)).sample()
    r = torch.tensor([random.random() for _ in range(16)])
    with torch.inference_mode():
        shown = q(s).mean().item()
    with torch.no_grad():
        y = r + 0.9 * target(s2).max(1).values
    loss = nn.functional.smooth_l1_loss(q(s).gather(1, a[:, None]).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(q.parameters(), 1.0)
    opt.step()
    if step >= 14 and step % 2 == 0:
        policy = torch.distributions.Categorical(logits=Double.apply(actor(s)))
        gain = -(policy.log_prob(a) * (r - r.mean())).mean()
        actor.zero_grad()
        grads = torch.autograd.grad(gain, list(actor.parameters()))
        for p, g in zip(actor.parameters(), grads, strict=True):
            p.grad = g
        actor_opt.step()
    if step % 10 == 0:
        target.load_state_dict(q.state_dict())
    if step % 15 == 0:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.warn("on the way", stacklevel=1)

digest = hashlib.sha256()
for tensor in (*q.state_dict().values(), *actor.state_dict().values(), torch.get_rng_state()):
    digest.update(tensor.numpy().tobytes())
digest.update(repr((random.getstate(), np.random.get_state()[1].tolist())).encode())
print(digest.hexdigest())
