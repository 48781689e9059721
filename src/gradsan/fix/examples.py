"""For each rule, a repair of one of its wrong examples as `gradsan fix` makes and verifies it: data for explanations.

`make fix-check` writes `examples.json`.
"""

from __future__ import annotations

import functools
import json
from importlib.resources import files


@functools.cache
def _all() -> dict[str, str]:
    found: dict[str, str] = json.loads((files("gradsan.fix") / "examples.json").read_text(encoding="utf-8"))
    return found


def example(code: str) -> str:
    """A diff, or nothing where no example of the rule has a verified repair."""
    return _all().get(code, "")
