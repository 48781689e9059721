"""Truncated quantile critics with a learner that runs one backward for each optimizer and gathers the gradients
before any of them is applied. The policy's backward passes through the critics, whose gradients were gathered by
reference: it adds to them, and the critics step towards higher values of whatever the policy does.

Round 21
Class: gradients by hand
"""

import copy

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

QUANTILES, CRITICS, DROPPED = 8, 2, 3


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, n_out))


class Module(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.pi = mlp(n_obs, 2 * n_act)
        self.qf = nn.ModuleList(mlp(n_obs + n_act, QUANTILES) for _ in range(CRITICS))
        self.qf_target = copy.deepcopy(self.qf).requires_grad_(False)
        self.log_alpha = nn.Parameter(torch.tensor(-2.0))

    def policy(self, obs):
        mean, log_std = self.pi(obs).chunk(2, -1)
        dist = torch.distributions.Normal(mean, log_std.clamp(-5, 1).exp())
        raw = dist.rsample()
        log_prob = dist.log_prob(raw) - 2 * (np.log(2) - raw - F.softplus(-2 * raw))
        return torch.tanh(raw), log_prob.sum(-1)

    def quantiles(self, critics, obs, action):
        return torch.stack([q(torch.cat([obs, action], -1)) for q in critics], 1)

    def forward_train(self, batch):
        out = {}
        out["action_curr"], out["logp_curr"] = self.policy(batch["obs"])
        out["qf_preds"] = self.quantiles(self.qf, batch["obs"], batch["action"])
        out["qf_curr"] = self.quantiles(self.qf, batch["obs"], out["action_curr"])  # BUG GS304
        with torch.no_grad():
            next_action, next_logp = self.policy(batch["next_obs"])
            target = self.quantiles(self.qf_target, batch["next_obs"], next_action).flatten(1)
            target = target.sort(-1).values[:, : QUANTILES * CRITICS - DROPPED]
            soft = target - self.log_alpha.exp() * next_logp[:, None]
            out["target"] = batch["reward"][:, None] + 0.95 * (1 - batch["terminated"][:, None]) * soft
        return out


def quantile_huber(preds, target):
    """Pairs of every quantile of every critic with every atom of the target."""
    delta = target[:, None, None, :] - preds[:, :, :, None]
    tau = (torch.arange(QUANTILES) + 0.5) / QUANTILES
    huber = torch.where(delta.abs() > 1, delta.abs() - 0.5, 0.5 * delta**2)
    return ((tau[None, None, :, None] - (delta.detach() < 0).float()).abs() * huber).mean()


class Learner:
    def __init__(self, module):
        self.module = module
        groups = {"qf": module.qf.parameters(), "policy": module.pi.parameters(), "alpha": [module.log_alpha]}
        self.params = {name: list(params) for name, params in groups.items()}
        self.optimizers = {name: torch.optim.Adam(params, lr=1e-3) for name, params in self.params.items()}

    def compute_losses(self, batch):
        out, alpha = self.module.forward_train(batch), self.module.log_alpha.exp()
        return {
            "qf": quantile_huber(out["qf_preds"], out["target"]),
            "policy": (alpha.detach() * out["logp_curr"] - out["qf_curr"].mean((1, 2))).mean(),
            "alpha": -(alpha * (out["logp_curr"].detach() - 1.0)).mean(),
        }

    def compute_gradients(self, losses):
        grads = {}
        for name, optimizer in self.optimizers.items():
            optimizer.zero_grad(set_to_none=True)
            losses[name].backward()  # BUG GS304
            grads[name] = [p.grad for p in self.params[name]]  # BUG GS304
        return grads

    def update(self, batch):
        grads = self.compute_gradients(self.compute_losses(batch))
        for name, optimizer in self.optimizers.items():
            for p, grad in zip(self.params[name], grads[name]):
                p.grad = grad
            optimizer.step()
        with torch.no_grad():
            for p, q in zip(self.module.qf_target.parameters(), self.module.qf.parameters()):
                p.lerp_(q, 0.02)


torch.manual_seed(11)
rng = np.random.default_rng(11)
env = gym.make("Pendulum-v1")
learner, memory = Learner(Module(3, 1)), []
obs, _ = env.reset(seed=11)
for step in range(700):
    with torch.no_grad():
        action = learner.module.policy(torch.from_numpy(obs))[0].numpy()
    next_obs, reward, terminated, truncated, _ = env.step(2 * action)
    memory.append((obs, action, np.float32(reward / 8), next_obs, np.float32(terminated)))
    obs = env.reset()[0] if terminated or truncated else next_obs
    if step >= 100 and step % 3 == 0:
        rows = zip(*(memory[i] for i in rng.integers(len(memory), size=32)))
        names = ("obs", "action", "reward", "next_obs", "terminated")
        learner.update({name: torch.from_numpy(np.stack(column)) for name, column in zip(names, rows)})
    if step % 175 == 174:
        print(f"step {step + 1}: reward {np.mean([row[2] for row in memory[-175:]]):.3f}")
