"""What `autograd.grad` was to differentiate by, as the source has it: for a forward that nobody traced."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradsan.judge.lines.read_cuts import SourcePlace, bound_before, nodes_at
from gradsan.judge.lines.source import called_name, function_at
from gradsan.record.events import NOWHERE, Backward, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History


def asked_by_source(history: History, event: Backward) -> tuple[str, Site]:
    """The one variable that the gradient is asked for, and the last line before that gives it a value."""
    seen = history.sites.get(event.site)
    if seen is None:
        return "", NOWHERE
    calls = [
        n for n in nodes_at(seen.file, seen.line) if isinstance(n, ast.Call) and called_name(n) == "grad"
    ]
    names = {name.id for call in calls for name in _asked(call)}
    if len(names) != 1:
        return "", NOWHERE
    name = names.pop()
    made = bound_before(SourcePlace(seen.file, seen.line, ast.Name(name, ast.Load())), name)
    if made is None:
        return "", NOWHERE
    return name, history.site_at(made.file, made.line, function_at(made.file, made.line))


def _asked(call: ast.Call) -> list[ast.Name]:
    given = [k.value for k in call.keywords if k.arg == "inputs"] or call.args[1:2]
    parts = [p for one in given for p in (one.elts if isinstance(one, ast.Tuple | ast.List) else [one])]
    return [part for part in parts if isinstance(part, ast.Name)]
