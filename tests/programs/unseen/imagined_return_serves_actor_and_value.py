"""Dreams of a world model: the return is live for the actor, as it must be, and the value is fitted to the same tensor.

Round 12
Class: the line
"""

import torch
from torch import nn

torch.manual_seed(1207)
LATENT, HORIZON, GAMMA, LAMBDA = 12, 6, 0.97, 0.9


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 32), nn.ELU(), nn.Linear(32, outputs))


nets = nn.ModuleDict(
    {
        "encoder": mlp(4, LATENT),
        "dynamics": mlp(LATENT + 2, LATENT),
        "reward": mlp(LATENT, 1),
        "actor": mlp(LATENT, 2),
        "value": mlp(LATENT, 1),
    }
)
model_params = [p for name in ("encoder", "dynamics", "reward") for p in nets[name].parameters()]
optimizers = {
    "model": torch.optim.Adam(model_params, lr=2e-3),
    "actor": torch.optim.Adam(nets["actor"].parameters(), lr=1e-3),
    "value": torch.optim.Adam(nets["value"].parameters(), lr=1e-3),
}


def differentiate(name, loss, keep=False):
    """Every loss gives gradients to the parameters of its own optimizer, and to no others."""
    params = optimizers[name].param_groups[0]["params"]
    for p, grad in zip(params, torch.autograd.grad(loss, params, retain_graph=keep)):
        p.grad = grad
    nn.utils.clip_grad_norm_(params, 10.0)


def step_model(latent, action):
    return latent + nets["dynamics"](torch.cat([latent, action], -1))


def dream(latent):
    latents = [latent]
    for _ in range(HORIZON):
        action = torch.tanh(nets["actor"](latents[-1].detach()))
        latents.append(step_model(latents[-1], action))
    return torch.stack(latents)


def lambda_returns(reward, value):
    returns, ahead = [], value[-1]
    for t in reversed(range(HORIZON)):
        ahead = reward[t] + GAMMA * ((1 - LAMBDA) * value[t + 1] + LAMBDA * ahead)
        returns.append(ahead)
    return torch.stack(returns[::-1])


for update in range(50):
    obs, action = torch.randn(20, 4), torch.rand(20, 2) * 2 - 1
    after = obs.clone()
    after[:, :2] += 0.3 * action
    latent = nets["encoder"](obs)
    guess = step_model(latent, action)
    model_loss = (guess - nets["encoder"](after).detach()).pow(2).mean()
    model_loss = model_loss + (nets["reward"](guess).squeeze(-1) + after.pow(2).sum(-1)).pow(2).mean()
    differentiate("model", model_loss)
    optimizers["model"].step()

    latents = dream(nets["encoder"](obs).detach())
    reward = nets["reward"](latents[1:]).squeeze(-1)
    returns = lambda_returns(reward, nets["value"](latents).squeeze(-1))
    value = nets["value"](latents[:-1].detach()).squeeze(-1)
    value_loss = 0.5 * (value - returns).pow(2).mean()  # BUG GS301
    actor_loss = -returns.mean()
    differentiate("actor", actor_loss, keep=True)
    differentiate("value", value_loss)
    optimizers["actor"].step()
    optimizers["value"].step()
