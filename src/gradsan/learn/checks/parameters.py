"""Part 1, last: modules that own their weights, and optimizers that move them."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn

from gradsan.learn.attempt import Attempt, Wrong
from gradsan.learn.checks.backward import history
from gradsan.learn.checks.registry import drive, values
from gradsan.learn.probe import same, sgd_moved

LR = 0.1


@values("parameter")
def _(attempt: Attempt) -> None:
    net = attempt.TwoHeads(3)
    owned = {tuple(p.shape) for p in net.parameters()}
    if sum(p.numel() for p in net.parameters()) != 12 + 2 * 4 + 1:
        names = ", ".join(name for name, _ in net.named_parameters())
        raise Wrong(
            f"TwoHeads should own its body, two heads and the scale; parameters() lists only {names}."
        )
    if (1, 3) not in owned or not isinstance(net.scale, nn.Parameter):
        raise Wrong("TwoHeads owns parameters of other shapes than the two heads and the scale need.")
    states, returns = history()
    with torch.no_grad():
        net.scale.fill_(1.7)  # at its initial 1, a forward that drops it would look right
        h = torch.tanh(net.body(states))
        want = net.scale * (net.heads[0](h) + net.heads[1](h)).squeeze(-1) / 2
        same(net(states), want, "net(states)")
    before = copy.deepcopy(net)
    attempt.train(net, states, returns, 1, LR)
    sgd_moved(net, before, lambda: (before(states) - returns).pow(2).mean(), LR, "one step of train")


@values("optimizer")
def _(attempt: Attempt) -> None:
    net = nn.Linear(3, 1)
    states, returns = history()
    optimizer = torch.optim.SGD(net.parameters(), lr=LR)
    for _ in range(3):  # the later rounds meet whatever gradient the earlier ones left behind
        before = copy.deepcopy(net)
        attempt.train(net, optimizer, states, returns, 1)
        sgd_moved(net, before, lambda: mse(before, states, returns), LR, "one step of train")  # noqa: B023
    once, often = copy.deepcopy(net), copy.deepcopy(net)
    for _ in range(4):
        attempt.train(once, torch.optim.SGD(once.parameters(), lr=LR), states, returns, 1)
    attempt.train(often, torch.optim.SGD(often.parameters(), lr=LR), states, returns, 4)
    same(
        often.weight, once.weight, "The weight after four steps", "Does each step use its own gradient only?"
    )


def mse(net: nn.Module, states: torch.Tensor, returns: torch.Tensor) -> torch.Tensor:
    error: Any = net(states).squeeze(-1) - returns
    return torch.mean(error**2)


@drive("parameter")
def _(attempt: Attempt) -> None:
    attempt.train(attempt.TwoHeads(3), *history(), 5, LR)


@drive("optimizer")
def _(attempt: Attempt) -> None:
    net = nn.Linear(3, 1)
    attempt.train(net, torch.optim.SGD(net.parameters(), lr=LR), *history(), 5)
