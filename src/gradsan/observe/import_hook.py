"""Waits for a module to be imported.

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


class ImportHook:
    """Calls `found` right after the module was imported, before the importing line goes on; `part` is what a fault of
    ours is noted under."""

    def __init__(self, module: str, found: Callable[[], object], part: str = "session") -> None:
        self._module = module
        self._found = found
        self._part = part
        self._finder: Any = _Finder(module, self._find, part)

    def start(self) -> None:
        if self._module in sys.modules:
            attempt(self._part, self._found)
        else:
            sys.meta_path.insert(0, self._finder)

    def stop(self) -> None:
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)

    def _find(self, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
        for finder in sys.meta_path:
            spec = None if finder is self._finder else finder.find_spec(self._module, path, target)
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
            if self._finder in sys.meta_path:  # else nobody waits any more
                attempt(self._part, self.stop)
                attempt(self._part, self._found)

        loader.exec_module = exec_module


class _Finder:
    """What the import system asks. A fault of ours is as if nobody had asked us."""

    def __init__(self, module: str, find: Callable[..., ModuleSpec | None], part: str) -> None:
        def find_spec(fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
            return attempt(part, find, path, target) if fullname == module else None

        self.find_spec = find_spec
