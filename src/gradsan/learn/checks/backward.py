"""Part 1, second half: what backward() starts from, and how often it can walk."""

from __future__ import annotations

import torch
from torch import Tensor

from gradsan.learn.attempt import Attempt, Wrong
from gradsan.learn.checks.autograd import curve, leaf, square
from gradsan.learn.checks.registry import drive, values
from gradsan.learn.probe import Counted, autograd_used, gradients, same


def history(states: int = 6, features: int = 3) -> tuple[Tensor, Tensor]:
    return torch.randn(states, features), torch.randn(states)


@values("value_fitting")
def _(attempt: Attempt) -> None:
    features, returns = history()
    for steps in (1, 3):
        w = torch.zeros(3, requires_grad=True)
        for _ in range(steps):
            (slope,) = gradients(lambda: (features @ w - returns).pow(2).mean(), [w])  # noqa: B023
            w = (w - 0.1 * slope).detach().requires_grad_()
        with autograd_used("fit"):
            got = attempt.fit(features, returns, steps, 0.1)
        same(got, w.detach(), f"w after {steps} step(s)")


@values("sum_backward")
def _(attempt: Attempt) -> None:
    f, states = Counted(curve()), torch.randn(5)
    got = attempt.slopes(f, states)
    if f.calls != 1:
        raise Wrong(
            f"slopes called f {f.calls} times; one call on the whole batch and one backward() are enough."
        )
    x = leaf(states)
    (want,) = gradients(lambda: f(x).sum(), [x])
    if isinstance(got, Tensor) and got.shape == want.shape and torch.allclose(got * len(states), want):
        raise Wrong("Every slope is divided by the number of states: that is what a mean does. Use the sum.")
    same(got, want, "slopes(f, states)")


@values("gradient_argument")
def _(attempt: Attempt) -> None:
    mix, f, theta, weights = torch.randn(4, 3), curve(), torch.randn(3), torch.randn(4)
    t = leaf(theta)
    (want,) = gradients(lambda: weights @ f(mix @ t), [t])
    got = attempt.weighted_gradient(lambda p: f(mix @ p), theta, weights)
    same(
        got,
        want,
        "weighted_gradient(f, theta, weights)",
        "Does every output count as much as its weight says?",
    )


@values("backward_twice")
def _(attempt: Attempt) -> None:
    trunk, policy, value = Counted(curve()), curve(), curve()
    w = leaf(torch.randn(3))
    got = attempt.pulls(trunk, lambda h: policy(h).sum(), lambda h: value(h).mean(), w.detach())
    if trunk.calls != 1:
        raise Wrong(f"pulls ran the trunk {trunk.calls} times; once is enough if its graph is kept.")
    (of_policy,) = gradients(lambda: policy(trunk(w)).sum(), [w])
    (of_value,) = gradients(lambda: value(trunk(w)).mean(), [w])
    same(got[0], of_policy, "The gradient of the policy's loss")
    same(got[1], of_value, "The gradient of the value's loss", "Is the policy's gradient still in it?")


@drive("value_fitting")
def _(attempt: Attempt) -> None:
    attempt.fit(*history(), 5, 0.1)


@drive("sum_backward")
def _(attempt: Attempt) -> None:
    attempt.slopes(square, torch.randn(4))


@drive("gradient_argument")
def _(attempt: Attempt) -> None:
    attempt.weighted_gradient(square, torch.randn(3), torch.randn(3))


@drive("backward_twice")
def _(attempt: Attempt) -> None:
    attempt.pulls(torch.tanh, torch.sum, torch.mean, torch.randn(3))
