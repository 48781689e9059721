"""Waits for the program to import torch.

Were torch imported before the program starts, variables that the program sets first
(`OMP_NUM_THREADS`, `CUDA_VISIBLE_DEVICES`) would come too late, and the training would differ.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from gradsan.observe.last_resort import attempt


class TorchImportHook:
    """Calls `attach` right after torch was imported, before the importing line goes on."""

    def __init__(self, attach: Callable[[], None]) -> None:
        self._attach = attach
        self._finder: Any = _Finder(self._find)

    def start(self) -> None:
        if "torch" in sys.modules:
            attempt("session", self._attach)
        else:
            sys.meta_path.insert(0, self._finder)

    def stop(self) -> None:
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)

    def _find(self, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
        for finder in sys.meta_path:
            spec = None if finder is self._finder else finder.find_spec("torch", path, target)
            if spec is not None:
                self._follow(spec.loader)
                return spec
        return None

    def _follow(self, loader: Any) -> None:
        """Looking for a spec is not importing it: only running the module's code is."""
        original = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            loader.exec_module = original
            original(module)
            attempt("session", self.stop)
            attempt("session", self._attach)

        loader.exec_module = exec_module


class _Finder:
    """What the import system asks. A fault of ours is as if nobody had asked us."""

    def __init__(self, find: Callable[..., ModuleSpec | None]) -> None:
        def find_spec(fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
            return attempt("session", find, path, target) if fullname == "torch" else None

        self.find_spec = find_spec
