"""Replacing attributes of PyTorch for a while, and putting every one of them back."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Protocol

MISSING = object()
Patch = tuple[Any, str, Any, Any]  # the owner, the name, what was there, and what we put there


class Tap(Protocol):
    """Something that sees what the script does, put in place part by part: one that cannot be leaves the others."""

    @property
    def parts(self) -> Parts: ...


class Patches:
    """Remembers what each attribute was, including that it was inherited, and restores in reverse."""

    def __init__(self) -> None:
        self._saved: list[Patch] = []
        self._resting: list[Patch] = []
        self._visible: list[Patch] = []  # to a compiler, that is
        self._withdrawn: list[Patch] = []

    def set(self, owner: Any, name: str, value: Any, rests: bool = False, stays: bool = False) -> Any:
        """Put `value` in place of `owner.name` and return what a caller would have got before. One that `rests`
        has nothing to see while the script only repeats itself, and then costs nothing either. One that `stays`
        does so while compiled code runs; the compiler knows what the others stand for, and would trace them."""
        patch = (owner, name, vars(owner).get(name, MISSING), value)
        self._saved.append(patch)
        original = getattr(owner, name)
        setattr(owner, name, value)
        if rests:
            self._resting.append(patch)
        if not stays:
            self._visible.append(patch)
        return original

    def original_of(self, value: Any) -> Any:
        """What `value` was put in the place of; itself where it is not ours."""
        return next((before for _, _, before, ours in self._saved if ours is value), value)

    def give_back(self, owner: Any, name: str) -> None:
        """One that has nothing to see any more: what was there before is put back for good."""
        gone = _take_off([patch for patch in self._saved if patch[0] is owner and patch[1] == name])
        for table in (self._saved, self._resting, self._visible, self._withdrawn):
            table[:] = [patch for patch in table if not any(patch is other for other in gone)]

    def rest(self) -> None:
        _take_off(self._resting)

    def wake(self) -> None:
        _put_on(self._resting)

    def withdraw(self) -> None:
        """A compiler is going to look."""
        self._withdrawn = _take_off(self._visible)

    def come_back(self) -> None:
        _put_on(self._withdrawn)
        self._withdrawn = []

    def restore(self) -> None:
        while self._saved:
            owner, name, before, _ = self._saved.pop()
            _put(owner, name, before)
        for table in (self._resting, self._visible, self._withdrawn):
            table.clear()


def _take_off(patches: list[Patch]) -> list[Patch]:
    """Those that were there; else somebody has put another function over ours."""
    found = [patch for patch in patches if vars(patch[0]).get(patch[1], MISSING) is patch[3]]
    for owner, name, before, _ in found:
        _put(owner, name, before)
    return found


def _put_on(patches: list[Patch]) -> None:
    for owner, name, before, value in patches:
        if vars(owner).get(name, MISSING) is before:
            _put(owner, name, value)


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


def stands_for(owner: type, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`functools.wraps` for a class method: the names are those that `owner.name` shows, because what is behind one
    that is written in C has others, or none."""

    def decorate(ours: Callable[..., Any]) -> Callable[..., Any]:
        seen = getattr(owner, name)
        functools.update_wrapper(ours, class_function(owner, name))
        for word in ("__module__", "__name__", "__qualname__"):
            setattr(ours, word, getattr(seen, word))
        return ours

    return decorate
