"""Ways between tensors and the rest of Python that a function mode does not see by itself."""

from __future__ import annotations

import functools
import sys
from typing import Any

import torch

from gradsan.observe.context import Context
from gradsan.observe.patches import Patches, class_function
from gradsan.observe.values import Departures


def depart(departures: Departures, name: str, result: Any, nid: int) -> None:
    if name in ("numpy", "array"):
        departures.array(result, nid)
    elif name == "tolist":
        departures.many(result, nid)
    else:
        departures.number(result, nid)


class InteropTap:
    """`torch.from_numpy` goes past function modes: a wrapper tells the operation tap."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def install(self, patches: Patches) -> None:
        context, original = self.context, torch.from_numpy

        @functools.wraps(original)
        def from_numpy(array: Any) -> Any:
            result = original(array)
            if context.operations is not None:
                context.contain(
                    "arrival",
                    context.operations.special.arrived,
                    "from_numpy",
                    array,
                    [],
                    (),
                    result,
                    sys._getframe(1),
                )
            return result

        patches.set(torch, "from_numpy", from_numpy, rests=True)
        self._patch_functions(patches)
        self._patch_inference_mode(patches)
        self._patch_grad_switch(patches)

    def _patch_grad_switch(self, patches: Patches) -> None:
        """`torch.set_grad_enabled(False)` as a statement stays in force: remember where, in every mode."""
        context, switch = self.context, torch.set_grad_enabled
        original: Any = switch.__init__
        libraries = context.sites.libraries

        @functools.wraps(original)
        def __init__(self: Any, mode: bool) -> None:
            # Nearly all calls come from `no_grad` or an optimizer, and must cost next to nothing. In passing
            # nobody asks who calls; if the line matters after all, `found_switch` looks for it in the source.
            if not mode or context.gradients_off:
                code = sys._getframe(1).f_code
                if id(code) not in libraries and context.sites.is_user(code):
                    context.contain("grad mode", context.switched_gradients, mode, sys._getframe(1))
            original(self, mode)

        patches.set(switch, "__init__", __init__, rests=True)

    def _patch_functions(self, patches: Patches) -> None:
        """A user's own `autograd.Function` is one operation, whatever its forward does inside."""
        context, function = self.context, torch.autograd.Function
        original = class_function(function, "apply")

        @functools.wraps(original)
        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            operations = context.operations
            numbers = context.contain("function", operations.read, args) if operations is not None else None
            result = original(cls, *args, **kwargs)
            if operations is not None and numbers is not None:
                context.contain(
                    "function", operations.applied, cls.__name__, args, numbers, result, sys._getframe(1)
                )
            return result

        patches.set(function, "apply", classmethod(apply), rests=True)

    def _patch_inference_mode(self, patches: Patches) -> None:
        context = self.context
        mode = torch.inference_mode
        enter, leave = mode.__enter__, mode.__exit__

        @functools.wraps(enter)
        def __enter__(self: Any) -> Any:
            context.contain("inference_mode", context.entered_inference, self.mode, sys._getframe(1))
            return enter(self)

        @functools.wraps(leave)
        def __exit__(self: Any, *args: Any) -> Any:
            if context.inference_sites:
                context.inference_sites.pop()
            return leave(self, *args)

        patches.set(mode, "__enter__", __enter__)
        patches.set(mode, "__exit__", __exit__)
