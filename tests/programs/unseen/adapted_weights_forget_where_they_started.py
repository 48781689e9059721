"""Meta-learned policy gradients: one inner step adapts a policy to a goal, and the outer step improves the
weights the adaptation starts from. The inner step starts from bare copies of the weights, so the outer
gradient has lost its main path and arrives through the curvature alone.

Round 32
Class: gradients by hand
"""

import math

import torch
from torch.nn import functional as F

torch.manual_seed(8)
STEPS, EPISODES, TASKS, META_UPDATES = 10, 24, 6, 40
INNER_LR, META_LR, GAMMA = 0.1, 5e-3, 0.95


def init(n_in, n_out):
    bound = 1 / math.sqrt(n_in)
    weight = torch.empty(n_out, n_in).uniform_(-bound, bound).requires_grad_()
    return [weight, torch.zeros(n_out, requires_grad=True)]


theta = [*init(3, 32), *init(32, 2), torch.full((2,), -0.5, requires_grad=True)]
meta_optimizer = torch.optim.Adam(theta, lr=META_LR)


def policy(weights, obs):
    w1, b1, w2, b2, log_std = weights
    mean = F.linear(torch.tanh(F.linear(obs, w1, b1)), w2, b2)
    return torch.distributions.Normal(mean, log_std.exp())


def rollout(weights, goal):
    """Points are pushed towards an unseen goal for STEPS pushes."""
    where = torch.zeros(EPISODES, 2)
    obs, actions, rewards = [], [], []
    with torch.no_grad():
        for t in range(STEPS):
            o = torch.cat([where, torch.full((EPISODES, 1), t / STEPS)], -1)
            a = policy(weights, o).sample()
            where = where + 0.2 * a.clamp(-1, 1)
            obs.append(o), actions.append(a), rewards.append(-(where - goal).norm(dim=-1))
    returns, total = [], torch.zeros(EPISODES)
    for r in reversed(rewards):
        total = r + GAMMA * total
        returns.append(total)
    returns = torch.stack(returns[::-1])
    advantage = returns - returns.mean(dim=1, keepdim=True)
    return torch.stack(obs), torch.stack(actions), advantage / (advantage.std() + 1e-6), sum(rewards).mean()


def surrogate(weights, data):
    obs, actions, advantage, _ = data
    return -(policy(weights, obs).log_prob(actions).sum(-1) * advantage).mean()


def adapt(weights, data):
    grads = torch.autograd.grad(surrogate(weights, data), weights, create_graph=True)
    return [w.data - INNER_LR * g for w, g in zip(weights, grads)]  # BUG GS202


for update in range(META_UPDATES):
    meta_loss, before, after = 0.0, 0.0, 0.0
    for _ in range(TASKS):
        angle = math.pi * torch.rand(()).item()
        goal = torch.tensor([math.cos(angle), math.sin(angle)])
        support = rollout(theta, goal)
        fast = adapt(theta, support)
        query = rollout(fast, goal)
        meta_loss = meta_loss + surrogate(fast, query) / TASKS
        before, after = before + support[-1].item() / TASKS, after + query[-1].item() / TASKS
    meta_optimizer.zero_grad()
    meta_loss.backward()
    meta_optimizer.step()
    if update % 10 == 0:
        print(f"{update:3d} return before {before:.2f} after {after:.2f}")
