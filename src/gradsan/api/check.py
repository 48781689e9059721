"""`gradsan.check`: a contract on where the gradient of a loss may go, looked at before backward."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import FrameType
from typing import Any, TypeVar

import torch

from gradsan.api import contract_errors
from gradsan.api.errors import GradientContractError
from gradsan.api.routes import Routes

Part = torch.nn.Module | torch.optim.Optimizer | torch.Tensor
Parts = Part | Iterable["Parts"]
L = TypeVar("L", bound=torch.Tensor)


def check(loss: L, *, reaches: Parts = (), avoids: Parts = ()) -> L:
    """Raise `GradientContractError` unless the gradient of `loss` goes where it must, and only there.

        gradsan.check(loss, reaches=policy, avoids=[critic, target]).backward()

    Both sides take modules, optimizers, parameters, any other tensors, and lists of them. `reaches`: every
    parameter that requires grad must get some. `avoids`: none may get any. The error names the cut, where a
    running watch has seen it, or the path that leaks. Nothing is computed: the autograd graph is walked
    once, which costs about a microsecond per operation of the forward pass.
    """
    if not isinstance(loss, torch.Tensor):
        raise TypeError(f"check needs the loss, a tensor, not {type(loss).__name__}")
    wanted, unwanted = flatten(reaches), flatten(avoids)
    routes = Routes(loss)
    frame = sys._getframe(1)
    frozen = [part for part, tensors in wanted if not any(t.requires_grad for t in tensors)]
    if frozen:
        raise contract_errors.nothing_to_reach(frozen, frame)
    missing = [t for part, tensors in wanted for t in _trainable(part, tensors) if not routes.reach(t)]
    if missing:
        raise _cut(loss, missing, frame)
    leaked = [t for _, tensors in unwanted for t in tensors if routes.reach(t)]
    if leaked:
        raise contract_errors.leak(routes, leaked, frame)
    return loss


def _cut(loss: torch.Tensor, missing: list[torch.Tensor], frame: FrameType) -> GradientContractError:
    return contract_errors.cut(loss, list({id(t): t for t in missing}.values()), frame)


def _trainable(part: Part, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    return tensors if isinstance(part, torch.Tensor) else [t for t in tensors if t.requires_grad]


def flatten(parts: Any) -> list[tuple[Part, list[torch.Tensor]]]:
    if isinstance(parts, torch.Tensor):
        return [(parts, [parts])]
    if isinstance(parts, torch.nn.Module):
        return [(parts, list(parts.parameters()))]
    if isinstance(parts, torch.optim.Optimizer):
        return [(parts, [p for group in parts.param_groups for p in group["params"]])]
    if isinstance(parts, dict):
        parts = parts.values()
    if isinstance(parts, str) or not isinstance(parts, Iterable):
        what = type(parts).__name__
        raise TypeError(f"check takes modules, optimizers, tensors, or iterables of them, not {what}")
    return [found for part in parts for found in flatten(part)]
