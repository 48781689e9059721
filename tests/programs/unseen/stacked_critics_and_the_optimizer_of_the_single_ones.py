"""An ensemble of critics is stacked for vmap, and the optimizer is made of the parameters of the modules that were
stacked. The stacked copies are new leaves: they take all the gradient and are never stepped, so the critics stay
random. pytorch/pytorch#92278 and pytorch/functorch#280.

Round 25
Class: weights
"""

import copy
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal
from torch.func import functional_call, stack_module_state, vmap


@dataclass
class Args:
    seed: int = 2510
    ensemble: int = 5
    subset: int = 2
    gamma: float = 0.95
    tau: float = 0.02
    alpha: float = 0.1
    lr: float = 1e-3
    batch_size: int = 64
    warmup: int = 100
    steps: int = 300


args = Args()
torch.manual_seed(args.seed)
rng = np.random.default_rng(args.seed)
OBS, ACT = 3, 2


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS, 64), nn.ReLU())
        self.mean, self.log_std = nn.Linear(64, ACT), nn.Linear(64, ACT)

    def forward(self, obs):
        h = self.body(obs)
        dist = Normal(self.mean(h), self.log_std(h).clamp(-4, 1).exp())
        x = dist.rsample()
        action = torch.tanh(x)
        log_prob = dist.log_prob(x) - torch.log(1 - action.pow(2) + 1e-6)
        return action, log_prob.sum(1)


def make_critic():
    return nn.Sequential(nn.Linear(OBS + ACT, 64), nn.ReLU(), nn.Linear(64, 1))


actor = Actor()
critics = [make_critic() for _ in range(args.ensemble)]
params, buffers = stack_module_state(critics)  # BUG GS205 GS206
target_params = {k: v.detach().clone() for k, v in params.items()}
base = copy.deepcopy(critics[0]).requires_grad_(False)


def ensemble(weights, obs, action):
    call = vmap(lambda p, b, x: functional_call(base, (p, b), (x,)), in_dims=(0, 0, None))
    return call(weights, buffers, torch.cat([obs, action], 1)).squeeze(-1)


q_optimizer = torch.optim.Adam(nn.ModuleList(critics).parameters(), lr=args.lr)  # BUG GS205 GS206 GS204
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=args.lr)


class Drifter:
    def reset(self):
        self.x = rng.normal(size=OBS)
        return self.x.astype(np.float32)

    def step(self, action):
        push = np.array([action[0], action[1], action[0] - action[1]])
        self.x = 0.95 * self.x + 0.3 * push + 0.02 * rng.normal(size=OBS)
        crashed = bool(np.abs(self.x).max() > 4)
        return self.x.astype(np.float32), float(-np.square(self.x).mean() - 5 * crashed), crashed


env, replay = Drifter(), []
obs = env.reset()
for step in range(args.steps):
    with torch.no_grad():
        action = actor(torch.from_numpy(obs)[None])[0][0].numpy()
    next_obs, reward, done = env.step(action)
    replay.append((obs, action, np.float32(reward), next_obs, np.float32(done)))
    obs = env.reset() if done else next_obs
    if step < args.warmup or step % 4:
        continue
    rows = [replay[i] for i in rng.integers(len(replay), size=args.batch_size)]
    o, a, r, o2, d = (torch.from_numpy(np.stack(x)) for x in zip(*rows))

    with torch.no_grad():
        a2, logp2 = actor(o2)
        members = torch.randperm(args.ensemble)[: args.subset]
        next_q = ensemble(target_params, o2, a2)[members].min(0).values
        y = r + args.gamma * (1 - d) * (next_q - args.alpha * logp2)
    q_loss = (ensemble(params, o, a) - y).pow(2).mean(1).sum()
    q_optimizer.zero_grad()
    q_loss.backward()
    q_optimizer.step()  # BUG GS404

    fixed = {k: v.detach() for k, v in params.items()}
    new_action, logp = actor(o)
    actor_loss = (args.alpha * logp - ensemble(fixed, o, new_action).mean(0)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    with torch.no_grad():
        for k, v in params.items():
            target_params[k].lerp_(v, args.tau)
