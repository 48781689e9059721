"""Discrete SAC: the critic is a constant in the actor's loss; the policy enters by its probabilities."""

import copy

import torch
from torch import nn

torch.manual_seed(0)


def mlp():
    return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))


actor, q1, q2 = mlp(), mlp(), mlp()
t1, t2 = copy.deepcopy(q1), copy.deepcopy(q2)
log_alpha = torch.zeros(1, requires_grad=True)
q_optimizer = torch.optim.Adam([*q1.parameters(), *q2.parameters()], lr=1e-3)
pi_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
alpha_optimizer = torch.optim.Adam([log_alpha], lr=1e-3)
for step in range(12):
    obs, action, next_obs = torch.randn(32, 4), torch.randint(3, (32, 1)), torch.randn(32, 4)
    alpha = log_alpha.exp().item()
    with torch.no_grad():
        log_pi = torch.log_softmax(actor(next_obs), -1)
        v = (log_pi.exp() * (torch.min(t1(next_obs), t2(next_obs)) - alpha * log_pi)).sum(-1)
        wanted = torch.randn(32) + 0.99 * v
    q_loss = sum((q(obs).gather(1, action).squeeze(1) - wanted).pow(2).mean() for q in (q1, q2))
    q_optimizer.zero_grad()
    q_loss.backward()
    q_optimizer.step()
    with torch.no_grad():
        best = torch.min(q1(obs), q2(obs))
    log_pi = torch.log_softmax(actor(obs), -1)
    probs = log_pi.exp()
    actor_loss = (probs * (alpha * log_pi - best)).sum(-1).mean()
    pi_optimizer.zero_grad()
    actor_loss.backward()
    pi_optimizer.step()
    entropy = -(probs * log_pi).sum(-1).detach()
    alpha_loss = (log_alpha.exp() * (entropy - 0.9)).mean()
    alpha_optimizer.zero_grad()
    alpha_loss.backward()
    alpha_optimizer.step()
    if step % 5 == 4:
        t1.load_state_dict(q1.state_dict())
        t2.load_state_dict(q2.state_dict())
