"""Part 1, first half: what a gradient is, and that gradients add up."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from gradsan.learn.attempt import Attempt, Wrong
from gradsan.learn.checks.registry import drive, values
from gradsan.learn.probe import Counted, autograd_used, gradients, same

Curve = Callable[[Tensor], Tensor]


def square(x: Tensor) -> Tensor:
    return x**2


def curve() -> Curve:
    """A smooth function nobody can have hard-coded: its three numbers are drawn anew for each check."""
    a, b, c = (torch.rand(3) + 0.5).tolist()
    return lambda x: a * x**2 + b * torch.sin(c * x)


def point() -> float:
    return float(torch.rand(()) * 2 - 1)


def leaf(value: float | Tensor) -> Tensor:
    return torch.as_tensor(value).detach().clone().requires_grad_()


def slope_at(f: Curve, at: float) -> Tensor:
    x = leaf(at)
    return gradients(lambda: f(x), [x])[0]


@values("requires_grad")
def _(attempt: Attempt) -> None:
    numbers = torch.randn(3).tolist()
    x = attempt.tracked(numbers)
    same(x, numbers, "tracked(values)")
    if not isinstance(x, Tensor) or not x.requires_grad:
        raise Wrong(
            "tracked(values) gave a tensor that autograd does not follow: its requires_grad is False."
        )
    if not x.is_leaf:
        raise Wrong(
            "tracked(values) gave the result of an operation, not a leaf: its .grad would stay empty."
        )
    (arrived,) = torch.autograd.grad((x**2).sum(), [x])
    same(arrived, 2 * torch.tensor(numbers), "The gradient that arrives at tracked(values)")


@values("slope")
def _(attempt: Attempt) -> None:
    with autograd_used("slope"):
        same(attempt.slope(square, 2.0), 4.0, "The slope of x² at 2")
    for _ in range(3):
        f, at = Counted(curve()), point()
        got = attempt.slope(f, at)
        if f.calls != 1:
            raise Wrong(f"slope called f {f.calls} times. Autograd needs a single evaluation.")
        same(got, slope_at(f, at), f"The slope of another function at {at:.3g}")


@values("dot_product")
def _(attempt: Attempt) -> None:
    x = torch.randn(4)
    kept, want = x.clone(), leaf(x)
    with autograd_used("dot_gradient"):
        got = attempt.dot_gradient(x)
    same(got, gradients(lambda: want @ want, [want])[0], "dot_gradient(x)")
    same(x, kept, "The caller's x after the call")
    if x.requires_grad or x.grad is not None:
        raise Wrong("dot_gradient(x) left its mark on the caller's x: x.requires_grad is now True.")


@values("two_variables")
def _(attempt: Attempt) -> None:
    g, h = curve(), curve()
    x, y = leaf(point()), leaf(point())

    def f(a: Tensor, b: Tensor) -> Tensor:
        return g(a) * h(b) + a * b

    want = gradients(lambda: f(x, y), [x, y])
    got = attempt.partials(f, x.item(), y.item())
    if not isinstance(got, tuple) or len(got) != 2:
        raise Wrong("partials should return two slopes, one for x and one for y.")
    same(got[0], want[0], "The slope in the direction of x")
    same(got[1], want[1], "The slope in the direction of y")


@values("accumulation")
def _(attempt: Attempt) -> None:
    for _ in range(3):
        f, g, at = curve(), curve(), point()
        same(attempt.slope_of_sum(f, g, at), slope_at(lambda x: f(x) + g(x), at), "The slope of f + g")  # noqa: B023


@values("zeroing")
def _(attempt: Attempt) -> None:
    f, start, lr = curve(), point(), 0.05
    for steps in (1, 2, 6):
        x = start
        for _ in range(steps):
            x -= lr * float(slope_at(f, x))
        same(attempt.descend(f, start, steps, lr), x, f"The point after {steps} step(s) downhill")


@drive("requires_grad")
def _(attempt: Attempt) -> None:
    attempt.tracked([1.0, 2.0])


@drive("slope")
def _(attempt: Attempt) -> None:
    attempt.slope(square, 2.0)


@drive("dot_product")
def _(attempt: Attempt) -> None:
    attempt.dot_gradient(torch.tensor([1.0, 2.0]))


@drive("two_variables")
def _(attempt: Attempt) -> None:
    attempt.partials(lambda x, y: x**2 * y, 2.0, 3.0)


@drive("accumulation")
def _(attempt: Attempt) -> None:
    attempt.slope_of_sum(square, torch.sin, 2.0)


@drive("zeroing")
def _(attempt: Attempt) -> None:
    attempt.descend(square, 2.0, 5, 0.1)
