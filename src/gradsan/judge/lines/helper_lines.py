"""The line of a helper that computed what arrives in torch: `fit(states, weigh(rewards))` with a `weigh` of the script.

What NumPy or plain Python has computed passes no tap. Where the name that becomes a tensor was handed in, the line that
called says what it stands for there; and where that is what a function of the same file gives back, the line that makes
it lies in there."""

from __future__ import annotations

import ast
from typing import NamedTuple

from gradsan.judge.history import History
from gradsan.judge.lines.arrival_lines import ARRIVING, given_at
from gradsan.judge.lines.source import around, called_name, names_in, tree_of
from gradsan.record.events import Op, Site

DEEP = 4  # names and callers


class _Place(NamedTuple):
    """An expression, and the line of the script that it is part of."""

    file: str
    line: int
    value: ast.expr


def helper_line(history: History, op: Op, otherwise: Site) -> Site:
    """`otherwise`, where the source does not lead into a function."""
    seen = history.sites.get(op.site)
    name = given_at(seen.file, seen.line) if seen is not None and op.name in ARRIVING else None
    if seen is None or name is None:
        return otherwise
    callers = list(history.chains.get(op.chain, ()))
    place: _Place | None = _Place(seen.file, seen.line, name)
    for _ in range(DEEP):
        if place is None or isinstance(place.value, ast.Call):
            break
        place = _assigned(place) or _handed_in(history, place, callers)
    helper = _defined(place) if place is not None and isinstance(place.value, ast.Call) else None
    if place is None or helper is None:
        return otherwise
    line = _made_in(place.file, helper)
    return history.site_at(place.file, line, helper.name) if line else otherwise


def _assigned(place: _Place) -> _Place | None:
    """What the name was bound to last, before this line; a line that only gives it another form is passed over."""
    if not isinstance(place.value, ast.Name):
        return None
    function, _ = around(place.file, place.line)
    scope = function or tree_of(place.file)
    found = (
        [n for n in ast.walk(scope) if isinstance(n, ast.Assign) and n.lineno < place.line] if scope else []
    )
    own = [n for n in found if isinstance(n.targets[0], ast.Name) and n.targets[0].id == place.value.id]
    made = [n for n in own if place.value.id not in names_in(n.value)]
    last = max(made, key=lambda n: n.lineno, default=None)
    return _Place(place.file, last.lineno, last.value) if last is not None else None


def _handed_in(history: History, place: _Place, callers: list[Site]) -> _Place | None:
    """What the caller gave for an argument of the function around."""
    function, _ = around(place.file, place.line)
    seen = history.sites.get(callers.pop(0)) if callers else None
    if function is None or seen is None or not isinstance(place.value, ast.Name):
        return None
    _, statement = around(seen.file, seen.line)
    calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call)] if statement is not None else []
    own = [call for call in calls if called_name(call) == function.name]
    given = _argument(own[0], function, place.value.id) if len(own) == 1 else None
    return _Place(seen.file, seen.line, given) if given is not None else None


def _argument(call: ast.Call, function: ast.FunctionDef, name: str) -> ast.expr | None:
    by_name = next((k.value for k in call.keywords if k.arg == name), None)
    names = [a.arg for a in function.args.args if a.arg not in ("self", "cls")]
    if by_name is not None or name not in names or any(isinstance(a, ast.Starred) for a in call.args):
        return by_name
    at = names.index(name)
    return call.args[at] if at < len(call.args) else None


def _defined(place: _Place) -> ast.FunctionDef | None:
    tree, call = tree_of(place.file), place.value
    if tree is None or not isinstance(call, ast.Call):
        return None
    found = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == called_name(call)]
    return found[0] if len(found) == 1 else None


def _made_in(file: str, helper: ast.FunctionDef) -> int:
    """The line that makes what it gives back; 0 where it gives back several things."""
    given = [n for n in ast.walk(helper) if isinstance(n, ast.Return) and n.value is not None]
    if len(given) != 1 or given[0].value is None or isinstance(given[0].value, ast.Tuple):
        return 0
    line, names = given[0].lineno, [n for n in ast.walk(given[0].value) if isinstance(n, ast.Name)]
    made = {place.line for name in names if (place := _assigned(_Place(file, line, name))) is not None}
    return made.pop() if len(made) == 1 else line
