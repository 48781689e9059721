"""Compiled regions stay compiled: other kernels round differently, and the training would be another one.

While one runs, nothing of ours is in the compiler's sight (it would trace our function mode, our hooks and our
wrappers, or refuse a full graph because of them). What goes in and what comes out is seen; what happens inside is told
from the compiler's record (`compiled_graphs`). Where there is none (it was compiled before we came, or in pieces with
plain code between them), that is said. A step inside a region leaves a mark: weights that have changed since backward
fed them.

The compiler is never imported for that: whoever imports it, `ImportHook` notices.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Protocol

from gradsan.observe.containment import Containment
from gradsan.observe.focus.tracing import Tracing
from gradsan.observe.import_hook import ImportHook
from gradsan.observe.ops.compiled_graphs import CompiledGraph, read, retell, watched
from gradsan.observe.outlet import BlindSpots
from gradsan.observe.patches import Parts, Patches
from gradsan.observe.sites import Sites

COMPILER = "torch._dynamo.eval_frame"
REGION = "compile_wrapper"  # the function there that runs one
OUTPUT = "torch._dynamo.output_graph"  # where graphs are handed to a backend


class Withdrawing(Protocol):
    """Something of ours that a compiler must not see."""

    def withdraw(self) -> None: ...
    def come_back(self) -> None: ...


class Compiled:
    def __init__(
        self, containment: Containment, tracing: Tracing, blind_spots: BlindSpots, sites: Sites,
        withdrawing: Sequence[Withdrawing], after_region: Callable[[FrameType], None],
    ) -> None:  # fmt: skip
        self._contain = containment.contain
        self._tracing = tracing
        self._blind_spots = blind_spots
        self._sites = sites
        self._withdrawing = withdrawing
        self._after_region = after_region
        self._inside = threading.local()
        self._threads = 0  # that are in a region
        self._import: ImportHook | None = None

    @property
    def parts(self) -> Parts:
        return (self._patch_compiler,)

    def remove(self) -> None:
        if self._import is not None:
            self._import.stop()

    def _patch_compiler(self, patches: Patches) -> None:
        found = functools.partial(self._contain, "compile", self._watch_regions, patches)
        self._import = ImportHook(COMPILER, found, "compile")
        self._import.start()

    def _watch_regions(self, patches: Patches) -> None:
        """Most programs import the compiler (every optimizer does) and compile nothing; so wait until one does."""
        module = sys.modules[COMPILER]
        if _has_compiled(module):
            self._bracket_regions(patches)
            return
        wrapping = getattr(module, "_TorchDynamoContext")  # noqa: B009 - torch's own, and not exported
        wrap, bracket = wrapping.__call__, functools.partial(self._bracket_regions, patches)
        waiting = [bracket]

        @functools.wraps(wrap)
        def wrap_region(context: Any, function: Any) -> Any:
            if waiting:
                self._contain("compile", waiting.pop())
            return wrap(context, function)

        patches.set(wrapping, "__call__", wrap_region, stays=True)

    def _bracket_regions(self, patches: Patches) -> None:
        """The one function that a region calls on its way in and on its way out. So does code that is not to be
        compiled, such as every `zero_grad`."""
        module = sys.modules[COMPILER]
        original = getattr(module, "_maybe_set_eval_frame")  # noqa: B009 - torch's own, and not exported
        inside = self._inside

        def set_eval_frame(callback: Any) -> Any:
            if callback is not None:
                if not getattr(inside, "region", False) and _is_region(sys._getframe(1)):
                    inside.region = True
                    self._enter(sys._getframe(1))
                return original(callback)
            before = original(callback)
            if getattr(inside, "region", False) and _is_region(sys._getframe(1)):
                inside.region = False
                self._leave(sys._getframe(1))
            return before

        patches.set(module, "_maybe_set_eval_frame", set_eval_frame, stays=True)
        self._contain("compile", self._read_graphs, patches)

    def _read_graphs(self, patches: Patches) -> None:
        """What is handed to a backend is read first; what it gives back tells of itself."""
        handing = importlib.import_module(OUTPUT).OutputGraph
        compile_graph = handing.call_user_compiler

        @functools.wraps(compile_graph)
        def call_user_compiler(output: Any, module: Any, inputs: Any) -> Any:
            graph = self._contain("compile", read, module, self._sites)
            run = compile_graph(output, module, inputs)
            if graph is None or getattr(output, "package", None) is not None:  # to be kept on disk as it is
                return run
            return watched(run, graph, self._ran)

        patches.set(handing, "call_user_compiler", call_user_compiler, stays=True)

    def _ran(self, graph: CompiledGraph, args: tuple[Any, ...], result: Any) -> None:
        if self._tracing.tap is not None:
            self._inside.told = getattr(self._inside, "told", 0) + 1
            self._contain("compile", retell, self._tracing.tap, graph, args, result)

    def _enter(self, frame: FrameType) -> None:
        self._threads += 1
        if self._threads == 1:
            for part in self._withdrawing:
                self._contain("compile", part.withdraw)
        if self._tracing.tap is not None:
            self._inside.told = 0
            self._contain("compile", self._tracing.tap.withdraw)

    def _leave(self, frame: FrameType) -> None:
        self._threads -= 1
        if not self._threads:
            for part in reversed(self._withdrawing):
                self._contain("compile", part.come_back)
        if self._tracing.tap is not None:
            whole = getattr(self._inside, "told", 0) == 1
            self._blind_spots.add("compiled values" if whole else "compiled", frame)
            self._contain("compile", self._tracing.tap.come_back)
        self._contain("compile", self._after_region, frame)


def _has_compiled(compiler: Any) -> bool:
    """Whether a function was wrapped already, before we came. What is not to be compiled has no backend."""
    backends = getattr(compiler, "cached_backends", None)
    return backends is None or any(backend is not None for backend in list(backends.values()))


def _is_region(frame: FrameType) -> bool:
    """The same function also brackets code that is not to be compiled, even while the compiler itself runs."""
    return frame.f_code.co_name == REGION
