"""Part 2, second half: memory that two names share."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from gradsan.learn.attempt import Attempt, Wrong
from gradsan.learn.checks.intact import LR, UPDATES, sgd
from gradsan.learn.checks.registry import drive, values
from gradsan.learn.probe import same, sgd_moved

Batch = tuple[Tensor, Tensor, Tensor, Tensor]


def transitions(rows: int = 6, actions: int = 3) -> Batch:
    """States, actions, rewards, next states."""
    return torch.randn(rows, 3), torch.randint(actions, (rows,)), torch.randn(rows), torch.randn(rows, 3)


class ReusedBuffer:
    """As the exercise's environment, but remembers what it showed. The answer's own class is not asked."""

    def __init__(self, size: int) -> None:
        self.buffer = torch.zeros(size)
        self.seen: list[tuple[Tensor, float]] = []

    def step(self) -> tuple[Tensor, float]:
        fresh = torch.randn(len(self.buffer))
        self.buffer.data.copy_(fresh)
        self.seen.append((fresh, float(fresh.sum())))
        return self.buffer, self.seen[-1][1]


@values("views")
def _(attempt: Attempt) -> None:
    net = nn.Linear(3, 4)
    with torch.no_grad():
        net.weight[2], net.bias[2] = 1.0, 2.0  # spreads on both sides of the clamp, as the states are of zero
    half = torch.randn(3, 3)
    before, states, actions = copy.deepcopy(net), torch.cat([half, -half]), torch.randn(6, 2)

    def loss() -> Tensor:
        mean, log_std = before(states).chunk(2, dim=-1)
        log_std = log_std.clamp(-5.0, 2.0)
        likelihood = 0.5 * ((actions - mean) / log_std.exp()) ** 2 + log_std
        return torch.mean(likelihood) + 0.01 * torch.mean(mean**2)

    same(attempt.policy_loss(net, states, actions), loss(), "policy_loss(net, states, actions)")
    attempt.update(net, sgd(net), states, actions)
    sgd_moved(net, before, loss, LR, "update")


@values("soft_update")
def _(attempt: Attempt) -> None:
    target, online, tau = nn.Linear(3, 2), nn.Linear(3, 2), float(torch.rand(()))
    parameters = dict(target.named_parameters())
    want = {
        name: (1 - tau) * p.detach() + tau * online.get_parameter(name).detach()
        for name, p in parameters.items()
    }
    kept = copy.deepcopy(online.state_dict())
    attempt.soft_update(target, online, tau)
    for name, parameter in parameters.items():
        if target.get_parameter(name) is not parameter or not parameter.requires_grad:
            raise Wrong(f"`{name}` of the target is another tensor now, or autograd no longer follows it.")
        same(parameter, want[name], f"`{name}` of the target after soft_update")
        same(online.get_parameter(name), kept[name], f"`{name}` of the online network after soft_update")
        if parameter.grad_fn is not None or parameter.grad is not None:
            raise Wrong(f"The update of `{name}` was recorded as part of a computation.")


@values("reused_buffer")
def _(attempt: Attempt) -> None:
    net, env = nn.Linear(3, 1), ReusedBuffer(3)
    before = copy.deepcopy(net)
    attempt.update(net, sgd(net), env, 4)
    if len(env.seen) != 4:
        raise Wrong(f"update(…, steps=4) took {len(env.seen)} steps in the environment.")
    seen, rewards = torch.stack([o for o, _ in env.seen]), torch.tensor([r for _, r in env.seen])

    def loss() -> Tensor:
        return torch.mean((before(seen).squeeze(-1) - rewards) ** 2)

    sgd_moved(
        net, before, loss, LR, "update", "Was it computed from each observation, or from the last one only?"
    )


@values("target_copy")
def _(attempt: Attempt) -> None:
    online = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3))
    kept = copy.deepcopy(online)
    target = attempt.make_target(online)
    states, actions, rewards, next_states = batch = transitions()
    same(target(states), kept(states), "What the target says, just after make_target,")
    goal = rewards + 0.9 * kept(next_states).max(dim=1).values.detach()
    attempt.update(online, target, sgd(online), batch, 0.9)
    chosen = torch.arange(len(actions)), actions
    sgd_moved(online, kept, lambda: torch.mean((kept(states)[chosen] - goal) ** 2), LR, "update")
    same(target(states), kept(states), "What the target says after the online network was trained")


@drive("views")
def _(attempt: Attempt) -> None:
    net = nn.Linear(3, 4)
    optimizer = sgd(net)
    for _ in range(UPDATES):
        attempt.update(net, optimizer, torch.randn(6, 3), torch.randn(6, 2))


@drive("soft_update")
def _(attempt: Attempt) -> None:
    target, online = nn.Linear(3, 2), nn.Linear(3, 2)
    for _ in range(UPDATES):
        attempt.soft_update(target, online, 0.1)


@drive("reused_buffer")
def _(attempt: Attempt) -> None:
    net, env = nn.Linear(3, 1), attempt.Environment(3)
    optimizer = sgd(net)
    for _ in range(UPDATES):
        attempt.update(net, optimizer, env, 4)


@drive("target_copy")
def _(attempt: Attempt) -> None:
    online = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3))
    target, optimizer = attempt.make_target(online), sgd(online)
    for _ in range(UPDATES):
        attempt.update(online, target, optimizer, transitions(), 0.9)
        target.load_state_dict(online.state_dict())
