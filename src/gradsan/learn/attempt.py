"""The learner's file, loaded: the check asks it for functions and classes by name."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any


class Wrong(Exception):
    """The answer is not right. The message says why, in terms of the learner's own names."""


class Attempt:
    """One run of the learner's file. Executed from its text, so no stale bytecode can be met."""

    def __init__(self, path: Path, source: str) -> None:
        self.path = path
        # Not `__main__`: the demo under `if __name__ == "__main__"` is the learner's, not the check's.
        self._module = ModuleType(path.stem)
        self._module.__file__ = str(path)
        exec(compile(source, str(path), "exec"), self._module.__dict__)

    def __getattr__(self, name: str) -> Any:
        """What the file defines under `name`; the check relies on the names that it was shipped with."""
        try:
            found = self._module.__dict__[name]
        except KeyError:
            raise Wrong(
                f"`{name}` is no longer defined in {self.path.name}. The check calls it by that name: "
                "bring it back, and change only what it does."
            ) from None
        if not callable(found):
            raise Wrong(f"`{name}` has to stay something that can be called; it is now {found!r}.")
        return found
