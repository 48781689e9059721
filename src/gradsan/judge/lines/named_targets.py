"""What an assignment gives a name to: a variable, an attribute, an entry of a dict, or whatever a string spells."""

from __future__ import annotations

import ast
import re

SETTERS = {"setattr", "add_module", "register_module"}


def is_called(target: ast.expr, name: str) -> bool:
    """`name`, `self.name`, `nets["name"]`."""
    if isinstance(target, ast.Subscript):
        return isinstance(target.slice, ast.Constant) and target.slice.value == name
    return name == (target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", ""))


def set_by_name(call: ast.expr, name: str) -> ast.expr | None:
    """What `setattr(agent, f"target_{part}", value)` or `agent.add_module("target", value)` gives this name."""
    if not isinstance(call, ast.Call) or len(call.args) < 2:
        return None
    setter = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return call.args[-1] if setter in SETTERS and _spells(call.args[-2], name) else None


def _spells(text: ast.expr, name: str) -> bool:
    """A part of an f-string that is filled in may be anything; what is left of it must say something."""
    if isinstance(text, ast.JoinedStr):
        parts = [str(part.value) if isinstance(part, ast.Constant) else "" for part in text.values]
        pattern = "".join(re.escape(part) if part else ".+" for part in parts)
        return any(parts) and re.fullmatch(pattern, name) is not None
    return isinstance(text, ast.Constant) and text.value == name
