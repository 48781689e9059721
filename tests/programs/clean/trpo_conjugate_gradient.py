"""TRPO: the KL of the policy with its own detached copy, differentiated twice, and a line search by hand."""

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
value = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
value_optimizer = torch.optim.Adam(value.parameters(), lr=1e-3)
params = list(policy.parameters())


def flat_grad(output, **options):
    return torch.cat([g.reshape(-1) for g in torch.autograd.grad(output, params, **options)])


def conjugate_gradient(product, b, steps=6):
    x, r = torch.zeros_like(b), b.clone()
    p, rr = r.clone(), r @ r
    for _ in range(steps):
        hp = product(p)
        alpha = rr / (p @ hp + 1e-8)
        x += alpha * p
        r -= alpha * hp
        new = r @ r
        p = r + (new / rr) * p
        rr = new
    return x


for _ in range(5):
    obs, action, returns = torch.randn(64, 4), torch.randint(3, (64,)), torch.randn(64)
    advantage = returns - value(obs).squeeze(-1).detach()
    dist = torch.distributions.Categorical(logits=policy(obs))
    fixed = torch.distributions.Categorical(logits=dist.logits.detach())
    old = dist.log_prob(action).detach()
    surrogate = ((dist.log_prob(action) - old).exp() * advantage).mean()
    gradient = flat_grad(surrogate, retain_graph=True).detach()
    kl_gradient = flat_grad(torch.distributions.kl_divergence(fixed, dist).mean(), create_graph=True)

    def fisher(v, kl_gradient=kl_gradient):
        return flat_grad((kl_gradient * v).sum(), retain_graph=True).detach() + 0.1 * v

    direction = conjugate_gradient(fisher, gradient)
    scale = torch.sqrt(0.02 / (direction @ fisher(direction) + 1e-8))
    before = parameters_to_vector(params).detach().clone()
    for shrink in (1.0, 0.5, 0.25):
        vector_to_parameters(before + shrink * scale * direction, params)
        with torch.no_grad():
            new = torch.distributions.Categorical(logits=policy(obs))
            if ((new.log_prob(action) - old).exp() * advantage).mean() > surrogate.detach():
                break
    else:
        vector_to_parameters(before, params)
    value_loss = (value(obs).squeeze(-1) - returns).pow(2).mean()
    value_optimizer.zero_grad()
    value_loss.backward()
    value_optimizer.step()
