"""Waits for the program to import torch.

Were torch imported before the program starts, variables that the program sets first
(`OMP_NUM_THREADS`, `CUDA_VISIBLE_DEVICES`) would come too late, and the training would differ.
"""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class TorchImportHook(importlib.abc.MetaPathFinder):
    """Calls `attach` right after torch was imported, before the importing line goes on."""

    def __init__(self, attach: Callable[[], None]) -> None:
        self._attach = attach

    def start(self) -> None:
        if "torch" in sys.modules:
            self._attach()
        else:
            sys.meta_path.insert(0, self)

    def stop(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "torch":
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
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
            self.stop()
            self._attach()

        loader.exec_module = exec_module
