"""A categorical target is projected from the online network's own next distribution, and nothing detaches it.

Round 13
Class: weights
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1309)
ATOMS, ACTIONS, V_MIN, V_MAX = 11, 4, -2.0, 2.0
z = torch.linspace(V_MIN, V_MAX, ATOMS)


def q_logits(model, obs):
    return model(obs).view(-1, ACTIONS, ATOMS)


def softmax_cross_entropy_with_logits(logits, labels):
    return (-labels * logits.log_softmax(-1)).sum(-1)


class QLoss:
    def __init__(self, q_logits_selected, q_probs_best_next, weights, rewards, done, gamma=0.95):
        r_tau = (rewards[:, None] + gamma * (1.0 - done[:, None]) * z).clamp(V_MIN, V_MAX)
        b = (r_tau - V_MIN) / ((V_MAX - V_MIN) / (ATOMS - 1))
        lb, ub = b.floor(), b.ceil()
        floor_equal_ceil = ((ub - lb) < 0.5).float()
        l_project = F.one_hot(lb.long(), ATOMS)
        u_project = F.one_hot(ub.long(), ATOMS)
        ml_delta = q_probs_best_next * (ub - b + floor_equal_ceil)
        mu_delta = q_probs_best_next * (b - lb)
        ml_delta = (l_project * ml_delta[..., None]).sum(1)
        mu_delta = (u_project * mu_delta[..., None]).sum(1)
        m = ml_delta + mu_delta
        self.td_error = softmax_cross_entropy_with_logits(logits=q_logits_selected, labels=m.detach())
        self.loss = (self.td_error * weights).mean()


model = nn.Sequential(nn.Linear(5, 48), nn.ReLU(), nn.Linear(48, ACTIONS * ATOMS))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(60):
    obs, next_obs = torch.randn(24, 5), torch.randn(24, 5)
    actions, done = torch.randint(ACTIONS, (24,)), (torch.rand(24) < 0.1).float()
    rewards = (actions == (obs[:, 0] > 0).long()).float()
    rows = torch.arange(24)
    next_probs = q_logits(model, next_obs).softmax(-1)
    best = (next_probs * z).sum(-1).argmax(1)
    loss = QLoss(
        q_logits(model, obs)[rows, actions], next_probs[rows, best], torch.rand(24), rewards, done
    ).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
