"""Replacing attributes of PyTorch for a while, and putting every one of them back."""

from __future__ import annotations

from typing import Any

MISSING = object()


class Patches:
    """Remembers what each attribute was, including that it was inherited, and restores in reverse."""

    def __init__(self) -> None:
        self._saved: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> Any:
        """Put `value` in place of `owner.name` and return what a caller would have got before."""
        self._saved.append((owner, name, vars(owner).get(name, MISSING)))
        original = getattr(owner, name)
        setattr(owner, name, value)
        return original

    def restore(self) -> None:
        while self._saved:
            owner, name, value = self._saved.pop()
            if value is MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
