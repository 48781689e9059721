"""Hold parameters still while a loss flows through them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from torch import Tensor


@contextmanager
def frozen(parameters: Iterable[Tensor]) -> Iterator[None]:
    """Inside, operations record no gradient for `parameters`; gradient still flows through to their inputs.

    Each parameter gets back the flag that it had: one that was frozen before stays frozen. What was computed
    inside stays blind to them, so backward may run after the block.
    """
    # `module.parameters()` is a generator: without the list, the second loop would find it empty.
    held = [(parameter, parameter.requires_grad) for parameter in list(parameters)]
    try:
        for parameter, _ in held:
            parameter.requires_grad_(False)
        yield
    finally:
        for parameter, required in held:
            parameter.requires_grad_(required)
