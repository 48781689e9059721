"""TRPO's product of the Fisher matrix and a vector wants the gradient of a gradient, and gets that of constants."""

import torch
from torch import nn
from torch.distributions import Categorical, kl_divergence

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
value = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
value_optimizer = torch.optim.Adam(value.parameters(), lr=1e-3)


def flat(gradients):
    return torch.cat([gradient.reshape(-1) for gradient in gradients])


def update(obs, action, advantage):
    parameters = list(policy.parameters())
    with torch.no_grad():
        old = Categorical(logits=policy(obs))
    ratio = (Categorical(logits=policy(obs)).log_prob(action) - old.log_prob(action)).exp()
    direction = flat(torch.autograd.grad((ratio * advantage).mean(), parameters))
    kl = kl_divergence(old, Categorical(logits=policy(obs))).mean()
    slope = flat(torch.autograd.grad(kl, parameters))  # BUG GS201
    product = flat(torch.autograd.grad((slope * direction).sum(), parameters)) + 0.1 * direction
    step = (0.02 / (direction @ product)).sqrt() * direction
    vector = nn.utils.parameters_to_vector(parameters).detach()
    nn.utils.vector_to_parameters(vector + step, parameters)


for _ in range(6):
    obs, action, returns = torch.randn(32, 3), torch.randint(2, (32,)), torch.randn(32, 1)
    with torch.no_grad():
        advantage = (returns - value(obs)).squeeze(-1)
    update(obs, action, advantage)
    loss = nn.functional.mse_loss(value(obs), returns)
    value_optimizer.zero_grad()
    loss.backward()
    value_optimizer.step()
