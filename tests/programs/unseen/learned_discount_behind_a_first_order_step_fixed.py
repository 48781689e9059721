"""A reward scale is learned through the inner update of the policy, but the inner gradient is taken without its
own graph.
Repaired here.

Round 2
Class: gradients by hand
"""

import torch
from torch import nn
from torch.nn.functional import log_softmax

torch.manual_seed(206)
w1 = (torch.randn(4, 16) * 0.3).requires_grad_()
w2 = (torch.randn(16, 3) * 0.3).requires_grad_()
scale = nn.Parameter(torch.zeros(3))
meta_optimizer = torch.optim.SGD([scale], lr=0.1)


def logits(weights, obs):
    a, b = weights
    return torch.tanh(obs @ a) @ b


def policy_loss(weights, obs, action, weight):
    log_prob = log_softmax(logits(weights, obs), -1).gather(1, action[:, None])[:, 0]
    return -(log_prob * weight).mean()


def inner_update(weights, obs, action, shaped, lr=0.5):
    loss = policy_loss(weights, obs, action, shaped)
    grads = torch.autograd.grad(loss, weights, create_graph=True)
    return tuple(w - lr * g for w, g in zip(weights, grads))


weights = (w1, w2)
for _ in range(30):
    obs = torch.randn(64, 4)
    with torch.no_grad():
        action = torch.distributions.Categorical(logits=logits(weights, obs)).sample()
    reward = (action == obs[:, :3].argmax(1)).float()
    shaped = reward * scale.exp()[action]
    adapted = inner_update(weights, obs, action, shaped)
    outer = policy_loss(adapted, obs, action, reward - reward.mean())
    meta_optimizer.zero_grad()
    outer.backward()
    meta_optimizer.step()
    weights = tuple(w.detach().requires_grad_() for w in adapted)
