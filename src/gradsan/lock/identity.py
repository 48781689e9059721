"""What a loss is called: the function that computes it and the expression, as they are written."""

from __future__ import annotations

import ast
from typing import NamedTuple

from gradsan.judge.history import History
from gradsan.judge.lines.source import tree_of
from gradsan.record.events import Backward, SiteSeen

LONGEST = 100  # characters of an expression
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Identity(NamedTuple):
    file: str  # its whole path
    function: str
    expression: str
    name: str  # the variable, where there is one


def identity_of(history: History, event: Backward) -> Identity:
    """Of a helper that is handed the loss as an argument, the caller counts."""
    way = [event.site, *history.chains.get(event.chain, ())]
    seen = [history.sites[site] for site in way if site in history.sites]
    if not seen:
        return Identity("", "", "", "")
    place, value = seen[0], _differentiated(seen[0])
    for caller in seen[1:]:
        position = _parameter(place, value)
        if position is None:
            break
        given = _argument(caller, place.function, position)
        if given is None:
            break
        place, value = caller, given
    name = ast.unparse(value) if isinstance(value, ast.Name | ast.Attribute) else ""
    made = _bound(place, value) if isinstance(value, ast.Name) else value
    text = ast.unparse(made) if made is not None else ""
    if len(text) > LONGEST:
        text = text[: LONGEST - 1] + "…"
    return Identity(place.file, qualified(place), text, name)


def qualified(place: SiteSeen) -> str:
    """`Agent.update`: the classes and functions around the line."""
    around = [n.name for n in _around(place) if isinstance(n, Function | ast.ClassDef)]
    return ".".join(around) or place.function


def _around(place: SiteSeen) -> list[ast.stmt]:
    """The statements that the line belongs to, from the outside in."""
    tree = tree_of(place.file)
    nodes = (n for n in ast.walk(tree) if isinstance(n, ast.stmt)) if tree is not None else ()
    return [n for n in nodes if n.lineno <= place.line <= (n.end_lineno or n.lineno)]


def _calls(place: SiteSeen) -> list[ast.Call]:
    around = _around(place)
    nodes = ast.walk(around[-1]) if around else ()
    return [n for n in nodes if isinstance(n, ast.Call)]


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _differentiated(place: SiteSeen) -> ast.expr | None:
    """What the line differentiates: `loss` of `loss.backward()`, `backward(loss)`, `scaler.scale(loss).backward()`."""
    calls = _calls(place)
    chosen = [c for c in calls if _called(c) in ("backward", "grad")] or [
        c for c in calls if "backward" in _called(c)
    ]
    if not chosen:
        return None
    call = chosen[0]
    value = call.args[0] if call.args and _called(call) != "backward" else None
    if value is None and isinstance(call.func, ast.Attribute):
        own = call.func.value
        value = call.args[0] if call.args and isinstance(own, ast.Name | ast.Attribute) else own
    if isinstance(value, ast.Call) and _called(value) == "scale" and value.args:
        value = value.args[0]
    return value


def _function(place: SiteSeen) -> Function | None:
    around = [n for n in _around(place) if isinstance(n, Function)]
    return around[-1] if around else None


def _parameter(place: SiteSeen, value: ast.expr | None) -> tuple[int, str] | None:
    """Which argument of its function the value is: position (without `self`) and name."""
    function = _function(place)
    if function is None or not isinstance(value, ast.Name) or _bound(place, value) is not value:
        return None
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args) if a.arg not in ("self", "cls")]
    names += [a.arg for a in function.args.kwonlyargs]
    return (names.index(value.id), value.id) if value.id in names else None


def _argument(caller: SiteSeen, function: str, which: tuple[int, str]) -> ast.expr | None:
    position, name = which
    for call in _calls(caller):
        if _called(call) == function:
            named = [k.value for k in call.keywords if k.arg == name]
            return named[0] if named else call.args[position] if position < len(call.args) else None
    return None


def _bound(place: SiteSeen, name: ast.Name) -> ast.expr:
    """The expression that the name was last given in this function, above the line; the name itself, if none."""
    scope: ast.AST | None = _function(place) or tree_of(place.file)
    found: list[tuple[int, ast.expr]] = []
    for node in ast.walk(scope) if scope is not None else ():
        if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        if name.id in names and node.lineno <= place.line:
            found.append((node.lineno, node.value))
    return max(found, key=lambda pair: pair[0])[1] if found else name
