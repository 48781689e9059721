"""Cells of a notebook: the kernel runs them from temporary files; people know them by their numbers."""

from __future__ import annotations

import re
import sys
from typing import Any

CELL = re.compile(r"In\[\d+\]")
_files: dict[str, str] = {}  # by the name that was shown


def shell() -> Any:
    """The running IPython, or None; whoever has not imported it has none."""
    module = sys.modules.get("IPython")
    return module.get_ipython() if module is not None and hasattr(module, "get_ipython") else None


def is_notebook() -> bool:
    """A kernel, where reports can be rich: not IPython in a terminal."""
    return hasattr(shell(), "kernel")


def cell_of(file: str) -> str:
    """`In[7]` for the file of that cell; "" for any other file."""
    found = shell().compile.format_code_name(file) if shell() is not None else None
    if found is None:
        return ""
    name = str(found[1])
    _files[name] = file
    return name


def file_of(cell: str) -> str:
    """The way back from `cell_of`; "" where it never went."""
    return _files.get(cell, "")
