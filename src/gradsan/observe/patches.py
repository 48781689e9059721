"""Replacing attributes of PyTorch for a while, and putting every one of them back."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Protocol

MISSING = object()


class Tap(Protocol):
    """Something that sees what the script does, put in place part by part: one that cannot be leaves the others."""

    @property
    def parts(self) -> Parts: ...


class Patches:
    """Remembers what each attribute was, including that it was inherited, and restores in reverse."""

    def __init__(self) -> None:
        self._saved: list[tuple[Any, str, Any]] = []
        self._resting: list[tuple[Any, str, Any, Any]] = []

    def set(self, owner: Any, name: str, value: Any, rests: bool = False) -> Any:
        """Put `value` in place of `owner.name` and return what a caller would have got before. One that `rests`
        has nothing to see while the script only repeats itself, and then costs nothing either."""
        before = vars(owner).get(name, MISSING)
        self._saved.append((owner, name, before))
        original = getattr(owner, name)
        setattr(owner, name, value)
        if rests:
            self._resting.append((owner, name, before, value))
        return original

    def rest(self) -> None:
        for owner, name, before, value in self._resting:
            if vars(owner).get(name, MISSING) is value:  # else somebody has put another function over ours
                _put(owner, name, before)

    def wake(self) -> None:
        for owner, name, before, value in self._resting:
            if vars(owner).get(name, MISSING) is before:
                _put(owner, name, value)

    def restore(self) -> None:
        while self._saved:
            _put(*self._saved.pop())
        self._resting.clear()


Parts = tuple[Callable[[Patches], None], ...]


def _put(owner: Any, name: str, value: Any) -> None:
    if value is MISSING:
        if name in vars(owner):  # not where a replacement of something inherited rests
            delattr(owner, name)
    else:
        setattr(owner, name, value)


def class_function(owner: type, name: str) -> Any:
    """The function behind a class method, which takes the class as its first argument. Python's own class
    methods hold it; one that is written in C is called with the class itself."""
    found = inspect.getattr_static(owner, name)
    return getattr(found, "__func__", found)
