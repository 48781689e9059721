"""The trusted side of every check: gradients that two independent methods agree on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import torch
from torch import Tensor, nn

from gradsan.learn.attempt import Wrong
from gradsan.learn.words import numbers

STEP = 1e-6  # in float64 a central difference with this step is good to about 1e-9
Loss = Callable[[], Tensor]


def gradients(loss: Loss, leaves: Sequence[Tensor]) -> list[Tensor]:
    """The gradient of `loss()` for each leaf: by autograd, confirmed by finite differences."""
    found = torch.autograd.grad(loss(), leaves, allow_unused=True)
    exact = [torch.zeros_like(x) if g is None else g for x, g in zip(leaves, found, strict=True)]
    for leaf, gradient in zip(leaves, exact, strict=True):
        # A disagreement is a fault of the check, never of the answer: it must not look like one.
        torch.testing.assert_close(gradient, finite_differences(loss, leaf), rtol=1e-5, atol=1e-6)
    return exact


@torch.no_grad()
def finite_differences(loss: Loss, leaf: Tensor) -> Tensor:
    """How much `loss()` changes when each element of `leaf` is moved a little, one at a time."""
    slopes = torch.zeros_like(leaf)
    flat, out = leaf.view(-1), slopes.view(-1)
    for i in range(flat.numel()):
        kept = flat[i].item()
        flat[i] = kept + STEP
        above = loss().item()
        flat[i] = kept - STEP
        out[i] = (above - loss().item()) / (2 * STEP)
        flat[i] = kept
    return slopes


def same(got: Any, want: Any, what: str, because: str = "") -> None:
    """`got` is the tensor or number `want`, in shape and value; `what` names it to the learner."""
    if got is None:
        raise Wrong(f"{what} gave back None: nothing is returned there yet.")
    if not isinstance(got, Tensor | float | int):
        raise Wrong(f"{what} should be a number or a tensor, and is {numbers(got)}.")
    want = torch.as_tensor(want)
    have = torch.as_tensor(got).detach().to(want.dtype)
    if have.shape != want.shape:
        raise Wrong(f"{what} has the shape {tuple(have.shape)}; it should be {tuple(want.shape)}.")
    narrow = isinstance(got, Tensor) and got.dtype is torch.float32  # the answer chose fewer digits
    if not torch.allclose(have, want, rtol=1e-3 if narrow else 1e-6, atol=1e-4 if narrow else 1e-8):
        raise Wrong(
            f"{what} is {numbers(have)}; it should be {numbers(want)}." + (f" {because}" if because else "")
        )


def sgd_moved(net: nn.Module, before: nn.Module, loss: Loss, lr: float, what: str, because: str = "") -> None:
    """`net` is where one SGD step on `loss` takes `before`, the copy made before the answer ran.

    `loss` is computed on `before`; targets that must stay constant are computed outside it.
    """
    old = dict(before.named_parameters())
    slopes = gradients(loss, list(old.values()))
    now = dict(net.named_parameters())
    for (name, start), slope in zip(old.items(), slopes, strict=True):
        unmoved = torch.equal(now[name], start) and bool(slope.abs().max() > 1e-9)
        hint = (
            "It has not moved at all: no gradient reached it, or no step was taken." if unmoved else because
        )
        same(now[name], start.detach() - lr * slope, f"After {what}, `{name}`", hint)


@contextlib.contextmanager
def autograd_used(what: str) -> Iterator[None]:
    """The right number is not enough where the exercise is about getting it from autograd."""
    spies = [
        mock.patch.object(torch.autograd, name, wraps=getattr(torch.autograd, name))
        for name in ("backward", "grad")
    ]
    with spies[0] as backward, spies[1] as grad:
        yield
    if not backward.called and not grad.called:
        raise Wrong(
            f"{what} never asked autograd: there was no backward(). Let it find the gradient for you."
        )


class Counted:
    """A function that counts its calls, so that a check can tell one evaluation from many."""

    def __init__(self, function: Callable[..., Tensor]) -> None:
        self.function, self.calls = function, 0

    def __call__(self, *args: Tensor) -> Tensor:
        self.calls += 1
        return self.function(*args)
