"""`os.execv` and its kin put another program in the place of this one: the report comes first."""

from __future__ import annotations

import contextlib
import functools
import os
import traceback
from collections.abc import Callable, Iterator
from typing import Any

REPLACING = [name for name in ("execv", "execve") if hasattr(os, name)]  # what all the others come down to


@contextlib.contextmanager
def words_before_replacement(say: Callable[[], None]) -> Iterator[None]:
    """Call `say` when the process is about to become another program; a fork's child says nothing."""
    owner = os.getpid()
    originals: dict[str, Any] = {name: getattr(os, name) for name in REPLACING}

    def telling(original: Any) -> Any:
        @functools.wraps(original)
        def replace(path: Any, *args: Any) -> Any:
            # One that is not there raises, and the program goes on: `execvp` tries every folder on the path.
            if os.getpid() == owner and os.access(path, os.X_OK):
                try:
                    say()
                except Exception:
                    traceback.print_exc()
            return original(path, *args)

        return replace

    ours = {name: telling(original) for name, original in originals.items()}
    for name, function in ours.items():
        setattr(os, name, function)
    try:
        yield
    finally:
        for name, function in ours.items():
            if getattr(os, name) is function:
                setattr(os, name, originals[name])
