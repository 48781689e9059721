"""Compiled functions run eagerly while we look deeply: compiled code has no operations to look at.

The compiler is never imported for that; a script that does not use it pays one look into `sys.modules`.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import torch

from gradsan.observe.context import Context
from gradsan.observe.patches import Patches

BLIND = "code inside torch.compile that could not be run eagerly"


class Compiled:
    def __init__(self, context: Context) -> None:
        self.context = context
        self._stance: Any = None

    def install(self, patches: Patches) -> None:
        original = torch.compile

        @functools.wraps(original)
        def compile_(*args: Any, **kwargs: Any) -> Any:
            made = original(*args, **kwargs)
            if self.context.operations is not None:  # the compiler may have been imported just now
                self.context.contain("compile", self.run_eagerly)
            return made

        patches.set(torch, "compile", compile_)

    def run_eagerly(self) -> None:
        if self._stance is not None or "torch._dynamo" not in sys.modules:
            return
        try:
            self._stance = torch.compiler.set_stance("force_eager")
        except (RuntimeError, AttributeError):  # in the middle of a compiled region; an old release
            self.context.blind(BLIND, sys._getframe(1))

    def run_compiled(self) -> None:
        """Back to what was before, unless the script has chosen another stance in between."""
        stance, self._stance = self._stance, None
        if stance is None:
            return
        frames: Any = sys.modules["torch._dynamo.eval_frame"]
        if frames._stance is not stance.stance:
            self.context.blind(BLIND, sys._getframe(1))
            return
        try:
            stance.__exit__(None, None, None)
        except RuntimeError:  # in the middle of a compiled region, of which there are none but ours
            frames._stance = stance.prev
