"""A natural gradient for policy and value at once, written back as one vector. Repaired."""

import torch
from torch import nn
from torch.distributions import Categorical, kl_divergence
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(0)
pi, v = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3)), nn.Linear(4, 1)
params = [*pi.parameters(), *v.parameters()]


def flat(gs):
    return torch.cat([g.reshape(-1) for g in gs])


for it in range(15):
    obs = torch.randn(32, 4)
    dist = Categorical(logits=pi(obs))
    act = dist.sample()
    ret = (act == obs[:, :3].argmax(-1)).float()
    old = dist.log_prob(act).detach()
    adv = (ret - v(obs).squeeze(-1)).detach()
    ratio = (Categorical(logits=pi(obs)).log_prob(act) - old).exp()
    value_loss = (v(obs).squeeze(-1) - ret).pow(2).mean()
    loss = -(ratio * adv).mean() + 0.5 * value_loss
    g = flat(torch.autograd.grad(loss, params))

    def hvp(x, obs=obs):
        d = Categorical(logits=pi(obs))
        kl = kl_divergence(Categorical(logits=d.logits.detach()), d).mean()
        gk = flat(torch.autograd.grad(kl, list(pi.parameters()), create_graph=True))
        n = gk.numel()
        return (
            torch.cat(
                [
                    flat(torch.autograd.grad((gk * x[:n]).sum(), list(pi.parameters()))),
                    torch.zeros(x.numel() - n),
                ]
            )
            + 0.1 * x
        )

    x = torch.zeros_like(g)
    r_ = g.clone()
    p_ = r_.clone()
    rr = r_ @ r_
    for _ in range(5):
        h = hvp(p_)
        al = rr / (p_ @ h)
        x = x + al * p_
        r_ = r_ - al * h
        n_ = r_ @ r_
        p_ = r_ + n_ / rr * p_
        rr = n_
    step = x * 0.05
    theta = parameters_to_vector(params)
    vector_to_parameters((theta - step).detach(), params)
