"""Which process this is among those of a run: what stands in the head of its trace."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Any

OWNER = "GRADSAN_RANK_OWNER"  # the process that a rank's variables are about: its children inherit them
NUMBERS = (("rank", "RANK"), ("local_rank", "LOCAL_RANK"), ("world_size", "WORLD_SIZE"))


def identity() -> dict[str, Any]:
    """As far as it is known from outside; a process group that is joined later says more."""
    known = {"pid": os.getpid(), "parent": os.getppid(), "host": socket.gethostname()}
    if "RANK" not in os.environ or os.environ.setdefault(OWNER, str(os.getpid())) != str(os.getpid()):
        return known
    numbers = {name: _number(os.environ, variable) for name, variable in NUMBERS}
    return known | {name: number for name, number in numbers.items() if number is not None}


def is_one_of_several() -> bool:
    """Whether a launcher (torchrun) has started this process and others like it."""
    known = identity()
    return "rank" in known and (known.get("world_size") or 0) > 1


def _number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else None
