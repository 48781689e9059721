"""The five updates that watching is measured on. Each returns a function that does one update."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

Update = Callable[[], None]


def mlp(*sizes: int, activation: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    layers: list[nn.Module] = []
    for a, b in itertools.pairwise(sizes):
        layers += [nn.Linear(a, b), activation()]
    return nn.Sequential(*layers[:-1])


def dqn() -> Update:
    """The hardest case: a 4-64-64-2 network and a batch of 64, where every microsecond shows."""
    q, target = mlp(4, 64, 64, 2), mlp(4, 64, 64, 2)
    target.load_state_dict(q.state_dict())
    optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
    s, s2, r, done = torch.randn(64, 4), torch.randn(64, 4), torch.randn(64), torch.zeros(64)
    a = torch.randint(2, (64, 1))

    def update() -> None:
        with torch.no_grad():
            y = r + 0.99 * (1 - done) * target(s2).max(1).values
        loss = F.smooth_l1_loss(q(s).gather(1, a).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return update


def ppo() -> Update:
    """One minibatch of 64 with clipped ratio, value loss, entropy and gradient clipping."""
    pi, v = mlp(8, 64, 64, 4, activation=nn.Tanh), mlp(8, 64, 64, 1, activation=nn.Tanh)
    params = [*pi.parameters(), *v.parameters()]
    optimizer = torch.optim.Adam(params, lr=3e-4)
    s, a, adv, ret = torch.randn(64, 8), torch.randint(4, (64,)), torch.randn(64), torch.randn(64)
    old = torch.full((64,), -1.4)

    def update() -> None:
        dist = torch.distributions.Categorical(logits=pi(s))
        ratio = (dist.log_prob(a) - old).exp()
        policy_loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
        value_loss = F.mse_loss(v(s).squeeze(-1), ret)
        loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(params, 0.5)
        optimizer.step()

    return update


def sac() -> Update:
    """One SAC update with 256-256 networks: twin critics, actor, temperature, polyak."""
    actor, q1, q2 = mlp(11, 256, 256, 6), mlp(14, 256, 256, 1), mlp(14, 256, 256, 1)
    t1, t2 = mlp(14, 256, 256, 1), mlp(14, 256, 256, 1)
    t1.load_state_dict(q1.state_dict())
    t2.load_state_dict(q2.state_dict())
    critics, targets = [*q1.parameters(), *q2.parameters()], [*t1.parameters(), *t2.parameters()]
    log_alpha = torch.zeros(1, requires_grad=True)
    actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-4)
    critic_opt = torch.optim.Adam(critics, lr=3e-4)
    alpha_opt = torch.optim.Adam([log_alpha], lr=3e-4)
    s, a, r, s2 = torch.randn(256, 11), torch.rand(256, 3) * 2 - 1, torch.randn(256, 1), torch.randn(256, 11)

    def act(states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mean, log_std = actor(states).chunk(2, -1)
        normal = torch.distributions.Normal(mean, log_std.clamp(-5, 2).exp())
        raw = normal.rsample()
        action = torch.tanh(raw)
        logp = normal.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)
        return action, logp.sum(-1, keepdim=True)

    def update() -> None:
        alpha = log_alpha.exp().detach()
        with torch.no_grad():
            a2, logp2 = act(s2)
            x2 = torch.cat([s2, a2], -1)
            y = r + 0.99 * (torch.min(t1(x2), t2(x2)) - alpha * logp2)
        x = torch.cat([s, a], -1)
        critic_loss = F.mse_loss(q1(x), y) + F.mse_loss(q2(x), y)
        critic_opt.zero_grad()
        critic_loss.backward()
        critic_opt.step()
        pi, logp = act(s)
        x = torch.cat([s, pi], -1)
        actor_loss = (alpha * logp - torch.min(q1(x), q2(x))).mean()
        actor_opt.zero_grad()
        actor_loss.backward()
        actor_opt.step()
        alpha_loss = -(log_alpha * (logp.detach() - 3.0)).mean()
        alpha_opt.zero_grad()
        alpha_loss.backward()
        alpha_opt.step()
        with torch.no_grad():
            torch._foreach_lerp_(targets, critics, 0.005)

    return update


def recurrent() -> Update:
    """A GRU policy unrolled over 16 steps of 16 environments."""
    cell, head = nn.GRUCell(8, 64), nn.Linear(64, 4)
    params = [*cell.parameters(), *head.parameters()]
    optimizer = torch.optim.Adam(params, lr=3e-4)
    obs, actions, adv = torch.randn(16, 16, 8), torch.randint(4, (16, 16)), torch.randn(16, 16)

    def update() -> None:
        h = torch.zeros(16, 64)
        logps = []
        for t in range(16):
            h = cell(obs[t], h)
            logps.append(head(h).log_softmax(-1).gather(1, actions[t, :, None]).squeeze(1))
        loss = -(torch.stack(logps) * adv).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(params, 0.5)
        optimizer.step()

    return update


def conv() -> Update:
    """A convolutional Q-network on 84×84×4, batch 32."""

    def net() -> nn.Sequential:
        return nn.Sequential(
            nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3, 1),
            nn.ReLU(), nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 6),
        )  # fmt: skip

    q, target = net(), net()
    target.load_state_dict(q.state_dict())
    optimizer = torch.optim.Adam(q.parameters(), lr=1e-4)
    s, s2, r, a = (
        torch.rand(32, 4, 84, 84),
        torch.rand(32, 4, 84, 84),
        torch.randn(32),
        torch.randint(6, (32, 1)),
    )

    def update() -> None:
        with torch.no_grad():
            y = r + 0.99 * target(s2).max(1).values
        loss = F.smooth_l1_loss(q(s).gather(1, a).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return update


WORKLOADS: dict[str, Callable[[], Update]] = {
    "DQN 4-64-64-2": dqn,
    "PPO minibatch": ppo,
    "SAC 256-256": sac,
    "recurrent policy": recurrent,
    "conv Q 84×84×4": conv,
}
