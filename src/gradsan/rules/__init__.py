"""The catalogue: every module here named `gs…` holds one rule. Adding a rule is adding a file."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from gradsan.rules.base import Rule


@functools.cache
def catalogue() -> dict[str, type[Rule]]:
    """All rules by code, in order."""
    found = {}
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda i: i.name):
        if info.name.startswith("gs"):
            rule = importlib.import_module(f"{__name__}.{info.name}").rule
            found[rule.code] = rule
    return found


def find(code_or_name: str) -> type[Rule] | None:
    """The rule with this code (any case) or name."""
    rules = catalogue()
    wanted = code_or_name.strip()
    return rules.get(wanted.upper()) or next((r for r in rules.values() if r.name == wanted.lower()), None)
