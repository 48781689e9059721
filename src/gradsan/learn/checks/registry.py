"""Where a check says which exercise it belongs to."""

from __future__ import annotations

from collections.abc import Callable

from gradsan.learn.attempt import Attempt

Check = Callable[[Attempt], None]
VALUES: dict[str, Check] = {}
DRIVES: dict[str, Check] = {}


def values(name: str) -> Callable[[Check], Check]:
    """Register what compares the answer's numbers with trusted ones; raises Wrong."""
    return _into(VALUES, name)


def drive(name: str) -> Callable[[Check], Check]:
    """Register what runs the answer as a training script would, for the sanitizer to watch."""
    return _into(DRIVES, name)


def _into(table: dict[str, Check], name: str) -> Callable[[Check], Check]:
    def register(check: Check) -> Check:
        assert name not in table, name
        table[name] = check
        return check

    return register
