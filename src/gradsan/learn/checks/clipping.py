"""Part 3, second half: limits that are set at the wrong place."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from torch import Tensor, nn

from gradsan.learn.attempt import Attempt
from gradsan.learn.checks.backward import history
from gradsan.learn.checks.intact import LR, sgd
from gradsan.learn.checks.missing import repeat, value_net
from gradsan.learn.checks.parameters import mse
from gradsan.learn.checks.registry import drive, values
from gradsan.learn.probe import gradients, same, sgd_moved


def wild() -> tuple[Tensor, Tensor]:
    """Returns so far off that every limit is reached."""
    states, returns = history()
    return states, 20 + 5 * returns


def _moved_by(
    attempt: Attempt, limit: float, clip: Callable[[list[Tensor]], list[Tensor]], data: tuple[Tensor, Tensor]
) -> None:
    net = nn.Linear(3, 1)
    optimizer = sgd(net)
    for _ in range(2):  # the second time, a gradient of the first may still be lying around
        before = copy.deepcopy(net)
        old = dict(before.named_parameters())
        slopes = clip(gradients(lambda: mse(before, *data), list(old.values())))  # noqa: B023
        attempt.update(net, optimizer, *data, limit)
        for (name, start), slope in zip(old.items(), slopes, strict=True):
            same(
                net.get_parameter(name),
                start.detach() - LR * slope,
                f"After update with limit {limit:.2g}, `{name}`",
            )


@values("clip_order")
def _(attempt: Attempt) -> None:
    def shorten(slopes: list[Tensor]) -> list[Tensor]:
        length = torch.sqrt(torch.stack([(slope**2).sum() for slope in slopes]).sum())
        factor = (limit / (length + 1e-6)).clamp(max=1.0)
        return [slope * factor for slope in slopes]

    for limit, data in ((0.5 + float(torch.rand(())), wild()), (1e6, history())):
        _moved_by(attempt, limit, shorten, data)


@values("clip_effect")
def _(attempt: Attempt) -> None:
    for limit, data in ((0.5 + float(torch.rand(())), wild()), (1e6, history())):
        _moved_by(attempt, limit, lambda slopes: [s.clamp(-limit, limit) for s in slopes], data)  # noqa: B023


@values("clamped_error")
def _(attempt: Attempt) -> None:
    states, _ = history(8)
    for size in (0.1, 30.0):  # one batch below the bend, one beyond it
        net = nn.Linear(3, 1)
        before = copy.deepcopy(net)
        targets = before(states).detach().squeeze(-1) + size * torch.randn(8).sign() * (0.5 + torch.rand(8))

        def loss() -> Tensor:
            error = before(states).squeeze(-1) - targets  # noqa: B023
            bent = torch.where(error.abs() < 1, 0.5 * error**2, error.abs() - 0.5)
            return torch.mean(bent)

        attempt.update(net, sgd(net), states, targets)
        why = "Does a large error still have a slope?" if size > 1 else ""
        sgd_moved(net, before, loss, LR, f"update with errors of about {size:g}", why)


drive("clip_order")(repeat(value_net, wild, lambda: (1.0,)))
drive("clip_effect")(repeat(value_net, wild, lambda: (1.0,)))
drive("clamped_error")(repeat(value_net, wild))
