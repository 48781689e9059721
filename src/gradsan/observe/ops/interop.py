"""Ways between tensors and the rest of Python that a function mode does not see by itself."""

from __future__ import annotations

import functools
import sys
from types import FrameType
from typing import Any

import torch

from gradsan.observe.containment import Containment
from gradsan.observe.focus.tracing import Tracing
from gradsan.observe.last_resort import attempt
from gradsan.observe.ops.special_calls import Call
from gradsan.observe.ops.switches import GradientSwitches
from gradsan.observe.patches import Parts, Patches, class_function, stands_for
from gradsan.observe.sites import Sites


class InteropTap:
    def __init__(
        self, containment: Containment, sites: Sites, tracing: Tracing, switches: GradientSwitches
    ) -> None:
        self._contain = containment.contain
        self._sites = sites
        self._tracing = tracing
        self._switches = switches

    @property
    def parts(self) -> Parts:
        patches = self._patch_arrivals, self._patch_functions
        return (
            *patches,
            self._patch_inference_mode,
            self._patch_grad_switch,
            self._patch_scripts,
            self._patch_asking,
        )

    def _patch_asking(self, patches: Patches) -> None:
        """PyTorch's layers take a slower way, which rounds differently, where a function mode is on: ours is none
        that they need care about."""
        ask, tracing = torch.overrides.has_torch_function, self._tracing

        @functools.wraps(ask)
        def has_torch_function(arguments: Any) -> bool:
            resume = attempt("interop", tracing.pause)
            try:
                return bool(ask(arguments))
            finally:
                if resume is not None:
                    attempt("interop", resume)

        patches.set(torch.overrides, "has_torch_function", has_torch_function)

    def _patch_scripts(self, patches: Patches) -> None:
        """TorchScript knows PyTorch's functions by identity: tell it which one ours stands for."""
        find: Any = torch.jit._builtins._find_builtin

        @functools.wraps(find)
        def find_builtin(function: Any) -> Any:
            return find(patches.original_of(function))

        for module in (torch.jit._builtins, torch.jit._recursive):
            patches.set(module, "_find_builtin", find_builtin)

    def _patch_arrivals(self, patches: Patches) -> None:
        """They go past function modes: wrappers tell the operation tap."""
        for name in ("from_numpy", "frombuffer"):
            wrapper = self._arriving(name, getattr(torch, name))
            wrapper.__qualname__ = name  # pickled by this name; PyTorch's own is no Python function
            patches.set(torch, name, wrapper, rests=True)

    def _arriving(self, name: str, original: Any) -> Any:
        contain, tracing = self._contain, self._tracing

        @functools.wraps(original)
        def arrive(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if tracing.tap is not None:
                contain("arrival", self._arrived, name, args, result, sys._getframe(1))
            return result

        return arrive

    def _arrived(self, name: str, args: Any, result: torch.Tensor, frame: FrameType) -> None:
        if (tap := self._tracing.tap) is not None:
            tap.special.arrival(Call(name, args, [], (), result, frame))

    def _patch_grad_switch(self, patches: Patches) -> None:
        """`torch.set_grad_enabled(False)` as a statement stays in force: remember where, in every mode."""
        contain, switches, switch = self._contain, self._switches, torch.set_grad_enabled
        original: Any = switch.__init__
        libraries, is_user = self._sites.libraries, self._sites.is_user

        @functools.wraps(original)
        def __init__(self: Any, mode: bool) -> None:
            # Nearly all calls come from `no_grad` or an optimizer, and must cost next to nothing. In passing
            # nobody asks who calls; if the line matters after all, it is looked for in the source.
            if not mode or switches.by_statement:
                code = sys._getframe(1).f_code
                if id(code) not in libraries and attempt("grad mode", is_user, code):
                    contain("grad mode", switches.switched, mode, sys._getframe(1))
            original(self, mode)

        patches.set(switch, "__init__", __init__, rests=True)

    def _patch_functions(self, patches: Patches) -> None:
        """A user's own `autograd.Function` is one operation, whatever its forward does inside."""
        contain, tracing, function = self._contain, self._tracing, torch.autograd.Function
        original = class_function(function, "apply")

        @stands_for(function, "apply")
        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            tap = tracing.tap
            numbers = contain("function", tap.read, args) if tap is not None else None
            result = original(cls, *args, **kwargs)
            if tap is not None and numbers is not None:
                contain("function", tap.applied, cls, args, numbers, result, sys._getframe(1))
            return result

        patches.set(function, "apply", classmethod(apply), rests=True)

    def _patch_inference_mode(self, patches: Patches) -> None:
        contain, switches = self._contain, self._switches
        mode = torch.inference_mode
        enter, leave = mode.__enter__, mode.__exit__

        @functools.wraps(enter)
        def __enter__(self: Any) -> Any:
            contain("inference_mode", switches.entered_inference, self.mode, sys._getframe(1))
            return enter(self)

        @functools.wraps(leave)
        def __exit__(self: Any, *args: Any) -> Any:
            contain("inference_mode", switches.left_inference)
            return leave(self, *args)

        patches.set(mode, "__enter__", __enter__)
        patches.set(mode, "__exit__", __exit__)
