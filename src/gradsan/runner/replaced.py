"""Other source text in place of a file's, for one process: the file on disk stays as it is.

Whoever asks the import system or `linecache` gets the new text; `__file__`, tracebacks and relative paths are the
old ones. Compiled caches are neither read nor written for these files.
"""

from __future__ import annotations

import functools
import io
import linecache
import os
import tokenize
from collections.abc import Mapping
from dataclasses import replace
from importlib.machinery import SourceFileLoader
from typing import Any

from gradsan.runner.program import Program


class ReplacedSources:
    def __init__(self, sources: Mapping[str, bytes]) -> None:
        """By real path."""
        self._sources = dict(sources)

    def install(self) -> None:
        """For good: a process that runs replaced source runs nothing else."""
        loader: Any = SourceFileLoader
        get_data, path_stats = loader.get_data, loader.path_stats

        @functools.wraps(get_data)
        def new_data(self_: Any, path: str) -> bytes:
            new = self._of(path)
            if new is None:
                return bytes(get_data(self_, path))
            self._remember(path)
            return new

        @functools.wraps(path_stats)
        def new_stats(self_: Any, path: str) -> Any:
            if self._of(path) is not None:
                raise OSError("replaced: no compiled cache is as new as this")
            return path_stats(self_, path)

        loader.get_data, loader.path_stats = new_data, new_stats

    def in_place_of(self, program: Program) -> Program:
        """The program itself is read before any import."""
        new = self._of(program.filename)
        if new is None:
            return program
        self._remember(program.filename)
        return replace(program, source=new)

    def _of(self, path: str) -> bytes | None:
        return self._sources.get(os.path.realpath(path)) if self._sources else None

    def _remember(self, name: str) -> None:
        """Without a time, so that `linecache.checkcache` does not look at the disk."""
        data = self._sources[os.path.realpath(name)]
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        lines = io.TextIOWrapper(io.BytesIO(data), encoding).readlines()
        linecache.cache[name] = (len(data), None, lines, name)
