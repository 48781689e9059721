"""Part 2, first half: values that backward needs, and copies of them."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gradsan.learn.attempt import Attempt, Wrong
from gradsan.learn.checks.autograd import leaf
from gradsan.learn.checks.backward import history
from gradsan.learn.checks.registry import drive, values
from gradsan.learn.probe import gradients, same, sgd_moved

LR = 0.1
UPDATES = 8  # enough for the rules that wait for a pattern to repeat


def sgd(*modules: nn.Module) -> torch.optim.SGD:
    return torch.optim.SGD([p for module in modules for p in module.parameters()], lr=LR)


def masks(rows: int = 6, actions: int = 4) -> tuple[Tensor, Tensor, Tensor]:
    """States, which actions are available in each, and one available action per state."""
    available = torch.rand(rows, actions) > 0.4
    chosen = torch.randint(actions, (rows,))
    available[torch.arange(rows), chosen] = True
    available[0, :2] = torch.tensor([False, True])  # at least one action is really masked
    chosen[0] = 1
    return torch.randn(rows, 3), available, chosen


@values("in_place")
def _(attempt: Attempt) -> None:
    states, available, chosen = masks()
    logits = torch.randn(6, 4)
    want = torch.softmax(logits.masked_fill(~available, -torch.inf), dim=-1)
    same(attempt.masked_policy(logits.clone(), available), want, "masked_policy(logits, available)")
    net = nn.Linear(3, 4)
    before = copy.deepcopy(net)
    attempt.update(net, sgd(net), states, available, chosen)

    def loss() -> Tensor:
        return F.cross_entropy(before(states).masked_fill(~available, -torch.inf), chosen)

    sgd_moved(net, before, loss, LR, "update")


@values("clone")
def _(attempt: Attempt) -> None:
    both = nn.ModuleDict({"body": nn.Linear(3, 4), "head": nn.Linear(4, 2)})
    before = copy.deepcopy(both)
    states, noise = torch.randn(5, 3), torch.randn(5, 4)

    def loss() -> Tensor:
        features = before["body"](states)
        clean, noisy = before["head"](features), before["head"](features + noise)
        return torch.mean((noisy - clean) ** 2) + 0.1 * torch.mean(clean**2)

    got = attempt.consistency_loss(both["body"], both["head"], states, noise)
    same(got, loss(), "consistency_loss(…)", "Are the clean features still clean?")
    attempt.update(both["body"], both["head"], sgd(both), states, noise)
    sgd_moved(both, before, loss, LR, "update", "Do gradients flow through the copy?")


@values("slice_snapshot")
def _(attempt: Attempt) -> None:
    layer = nn.Linear(3, 2)
    before, (states, returns) = copy.deepcopy(layer), history()
    got = attempt.first_row_change(layer, sgd(layer), states, returns)

    def loss() -> Tensor:
        return torch.mean((before(states).sum(dim=-1) - returns) ** 2)

    sgd_moved(layer, before, loss, LR, "first_row_change")
    same(
        got,
        (layer.weight - before.weight)[0],
        "first_row_change(…)",
        "Was `before` overwritten by the update?",
    )
    if got.requires_grad:
        raise Wrong(
            "first_row_change(…) is right in its numbers, but it still hangs on the graph: `before` is a copy "
            "that autograd follows back to the weights. A snapshot is out of the graph as well."
        )


@values("functional")
def _(attempt: Attempt) -> None:
    rewards, gamma = torch.randn(5), leaf(0.5 + 0.4 * torch.rand(()))
    got = attempt.discounted(rewards, gamma)
    steps = torch.arange(5)
    ahead = steps - steps.unsqueeze(1)

    def returns() -> Tensor:
        # Written as a matrix of powers, unlike the recursion: two ways that must agree.
        return torch.where(ahead >= 0, gamma ** ahead.clamp(min=0), 0.0) @ rewards

    same(got, returns(), "discounted(rewards, gamma)")
    if not got.requires_grad:
        raise Wrong("discounted(rewards, gamma) no longer depends on gamma: its gradient path is cut.")
    (want,) = gradients(lambda: returns().mean(), [gamma])
    same(attempt.gamma_gradient(rewards, gamma.item()), want, "gamma_gradient(rewards, gamma)")


@drive("in_place")
def _(attempt: Attempt) -> None:
    net = nn.Linear(3, 4)
    optimizer = sgd(net)
    for _ in range(UPDATES):
        attempt.update(net, optimizer, *masks())


@drive("clone")
def _(attempt: Attempt) -> None:
    body, head = nn.Linear(3, 4), nn.Linear(4, 2)
    optimizer = sgd(body, head)
    for _ in range(UPDATES):
        attempt.update(body, head, optimizer, torch.randn(5, 3), torch.randn(5, 4))


@drive("slice_snapshot")
def _(attempt: Attempt) -> None:
    layer = nn.Linear(3, 2)
    optimizer = sgd(layer)
    for _ in range(UPDATES):
        attempt.first_row_change(layer, optimizer, *history())


@drive("functional")
def _(attempt: Attempt) -> None:
    attempt.gamma_gradient(torch.randn(5), 0.9)
