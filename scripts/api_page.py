"""Writes docs/reference.md from docstrings: `python scripts/api_page.py` (part of `make docs`)."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent.parent / "docs" / "reference.md"
PUBLIC: dict[str, list[str]] = {
    "gradsan": [
        "watch", "WatchReport", "Finding", "check", "freeze", "thawed", "guard", "explain",
        "GradientError", "GradientContractError", "FrozenTensorError", "GuardError",
    ],
    "gradsan.integrations.stable_baselines3": ["GradsanCallback"],
    "gradsan.integrations.lightning": ["GradsanCallback"],
    "gradsan.integrations.loop": ["watched"],
    "gradsan.rl": ["Contract", "Contracts", "without_gradient"],
    "gradsan.rl.losses": [],  # all of them
}  # fmt: skip
INTRODUCTION = """\
# API reference

<!-- Written by scripts/api_page.py from the docstrings; edit those. -->

What can be imported, with its own words. For what to use when, see [gradsan in Python](api.md).
"""


def page() -> str:
    parts = [INTRODUCTION]
    for module, names in PUBLIC.items():
        home = importlib.import_module(module)
        parts.append(f"## {module}\n")
        if module != "gradsan":
            parts.append(_doc(home) + "\n")
        parts.extend(_entry(name, getattr(home, name)) for name in names or home.__all__)
    return "\n".join(parts).rstrip("\n") + "\n"


def _entry(name: str, value: Any) -> str:
    if not callable(value):
        return ""
    lines = [f"### {name}\n", f"```python\n{_signature(name, value)}\n```\n", _doc(value)]
    if inspect.isclass(value):
        lines += [""] + [line for line in map(_member, _members(value)) if line]
    return "\n".join(lines).rstrip() + "\n"


def _members(kind: type) -> list[tuple[str, Any]]:
    own = [(name, member) for name, member in vars(kind).items() if not name.startswith("_")]
    return [
        (name, member) for name, member in own if isinstance(member, property) or inspect.isfunction(member)
    ]


def _member(named: tuple[str, Any]) -> str:
    name, member = named
    doc = " ".join(_doc(member).split("\n\n")[0].split())
    if not doc:
        return ""
    if isinstance(member, property):
        return f"- `{name}`: {doc}"
    shown = _signature(name, member).replace("(self, ", "(").replace("(self)", "()")
    return f"- `{shown}`: {doc}"


def _signature(name: str, value: Any) -> str:
    try:
        signature = str(inspect.signature(value))
    except (TypeError, ValueError):
        return name
    if " at 0x" in signature:  # a default that has no name: nobody is meant to call it by hand
        return name
    signature = re.sub(r"'([^']*)'(?=[,)\s]|$)", r"\1", signature) if "'" in signature else signature
    whole = f"{name}{signature}"
    if len(whole) <= 100:
        return whole
    parameters = ",\n".join(f"    {p}" for p in _parameters(signature))
    after = signature[signature.rindex(")") + 1 :]
    return f"{name}(\n{parameters},\n){after}"


def _parameters(signature: str) -> list[str]:
    """Split at the commas that are not inside brackets."""
    inside, depth, found = signature[1 : signature.rindex(")")], 0, [""]
    for character in inside:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return [part.strip() for part in found]


def _doc(value: Any) -> str:
    """The docstring; a dataclass's own signature, which Python puts there in its place, is none."""
    text = value.__doc__ or ""
    if dataclasses.is_dataclass(value) and text.startswith(f"{getattr(value, '__name__', '')}("):
        return ""
    return inspect.cleandoc(text) if text else ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
