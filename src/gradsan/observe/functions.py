"""The tap on custom autograd functions, which no function mode sees: to the graph, a call is one operation."""

from __future__ import annotations

import functools
import sys
from typing import Any

import torch

from gradsan.observe.context import Context
from gradsan.observe.operations import tensors_in
from gradsan.observe.patches import Patches


class FunctionTap:
    def __init__(self, context: Context) -> None:
        self.context = context

    def install(self, patches: Patches) -> None:
        context = self.context
        original: Any = torch.autograd.Function.apply
        apply_to = original.__func__

        @functools.wraps(apply_to)
        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            operations = context.operations
            if operations is None:
                return apply_to(cls, *args, **kwargs)
            inputs = tensors_in(args, kwargs)
            numbers = context.contain("function", operations.numbers, inputs)
            result = apply_to(cls, *args, **kwargs)
            if numbers is not None:
                context.contain("function", operations.applied, inputs, numbers, result, sys._getframe(1))
            return result

        patches.set(torch.autograd.Function, "apply", classmethod(apply))
