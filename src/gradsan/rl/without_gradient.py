"""Hold parameters still while a loss flows through them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from torch import Tensor

if TYPE_CHECKING:
    from contextlib import _GeneratorContextManager


def without_gradient(parameters: Iterable[Tensor]) -> _GeneratorContextManager[None]:
    """Inside, operations record no gradient for `parameters`; gradient still flows through to their inputs.

    Each parameter gets back the flag that it had: one that was frozen before stays frozen. What was computed
    inside stays blind to them, so backward may run after the block.
    """
    # `module.parameters()` is a generator: as a decorator, the second call would find it empty.
    return _held_still(list(parameters))


@contextmanager
def _held_still(parameters: list[Tensor]) -> Iterator[None]:
    held = [(parameter, parameter.requires_grad) for parameter in parameters]
    try:
        for parameter, _ in held:
            parameter.requires_grad_(False)
        yield
    finally:
        for parameter, required in held:
            parameter.requires_grad_(required)
