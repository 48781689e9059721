"""Which torch can be watched. A newer one is tried: what it does not have, it does not have."""

from __future__ import annotations

import re

OLDEST = (2, 6)  # also in pyproject.toml; `make test-torch-versions` tests it


class TorchTooOld(RuntimeError):
    """`gradsan.watch` was opened where torch is older than what gradsan can watch."""


def too_old(version: str) -> str:
    """One sentence for a torch that cannot be watched; nothing for all others."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers is None or (int(numbers[1]), int(numbers[2])) >= OLDEST:
        return ""
    return f"gradsan needs torch {OLDEST[0]}.{OLDEST[1]} or newer; this is {version.split('+')[0]}"
