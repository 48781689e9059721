"""Compiled functions run eagerly while we look deeply: compiled code has no operations to look at.

The compiler is never imported for that; a script that does not use it pays one look into `sys.modules`.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import torch

from gradsan.observe.containment import Containment
from gradsan.observe.last_resort import attempt
from gradsan.observe.outlet import BlindSpots
from gradsan.observe.patches import Parts, Patches
from gradsan.observe.tracing import Tracing


class Compiled:
    def __init__(self, containment: Containment, tracing: Tracing, blind_spots: BlindSpots) -> None:
        self._contain = containment.contain
        self._tracing = tracing
        self._blind_spots = blind_spots
        self._stance: Any = None

    @property
    def parts(self) -> Parts:
        return (self._patch_compile,)

    def _patch_compile(self, patches: Patches) -> None:
        original = torch.compile

        @functools.wraps(original)
        def compile_(*args: Any, **kwargs: Any) -> Any:
            made = original(*args, **kwargs)
            if self._tracing.tap is not None:  # the compiler may have been imported just now
                attempt("compile", self.run_eagerly)
            return made

        patches.set(torch, "compile", compile_)

    def run_eagerly(self) -> None:
        self._contain("compile", self._run_eagerly)

    def run_compiled(self) -> None:
        self._contain("compile", self._run_compiled)

    def _run_eagerly(self) -> None:
        if self._stance is not None or "torch._dynamo" not in sys.modules:
            return
        try:
            self._stance = torch.compiler.set_stance("force_eager")
        except (RuntimeError, AttributeError):  # in the middle of a compiled region; an old release
            self._blind_spots.add("compiled", sys._getframe(1))

    def _run_compiled(self) -> None:
        """Back to what was before, unless the script has chosen another stance in between."""
        stance, self._stance = self._stance, None
        if stance is None:
            return
        frames: Any = sys.modules["torch._dynamo.eval_frame"]
        if frames._stance is not stance.stance:
            self._blind_spots.add("compiled", sys._getframe(1))
            return
        try:
            stance.__exit__(None, None, None)
        except RuntimeError:  # in the middle of a compiled region, of which there are none but ours
            frames._stance = stance.prev
