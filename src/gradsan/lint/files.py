"""Which files a path stands for, and what is in them."""

from __future__ import annotations

import os
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

SKIPPED = ("__pycache__", "node_modules")


def python_files(paths: Iterable[str]) -> list[str]:
    """The files that are named, whatever they are called, and those below the folders that are; each once."""
    found = (file for path in paths for file in (_below(path) if os.path.isdir(path) else [path]))
    return list({os.path.realpath(file): file for file in found}.values())


def _below(folder: str) -> Iterator[str]:
    """Without hidden folders and without virtual environments, unless one of them is asked for itself."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(
            f for f in folders
            if not f.startswith(".") and f not in SKIPPED and not os.path.isfile(os.path.join(here, f, "pyvenv.cfg"))
        )  # fmt: skip
        yield from (os.path.join(here, f) for f in sorted(files) if f.endswith(".py"))


def read(path: str) -> str:
    """As Python itself would read it; raises OSError, SyntaxError (of the encoding) or UnicodeDecodeError."""
    if not Path(path).is_file():
        raise OSError("it is not a file")
    with tokenize.open(path) as file:
        return file.read()
