"""Where the source says that a loss without a graph was cut off, for a forward that nobody traced.

The loss is followed from the backward to what it was assigned from, through a helper that was handed it, and each line
on the way is read. Only where exactly one of the most telling kind is found is it named.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.lines.source import around, function_at, tree_of
from gradsan.record.events import NOWHERE, Backward, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History

LINES = 12  # so many assignments back
SWITCHES = ("no_grad", "inference_mode")
LEAVING = {"item", "numpy", "tolist", "tensor", "as_tensor", "FloatTensor", "float"}
SWITCHED_OFF, LEFT, DETACHED = range(3)  # the most telling first: a detached summand is often meant


class SourcePlace(NamedTuple):
    file: str
    line: int
    expression: ast.expr


def cut_by_source(history: History, event: Backward) -> Site:
    found: dict[int, list[SourcePlace]] = {}
    around_backward = _innermost_loop(history, event)
    for place in places_of_loss(history, event):
        kind = _kind(place)
        if kind is not None and _is_inside(place, around_backward):
            found.setdefault(kind, []).append(place)
    places = found[min(found)] if found else []
    # `reward + 0.9 * value(after)` is a target, and cut by right, if anything else is.
    places = [place for place in places if not _is_sum(place.expression)] or places
    if len(places) != 1:
        return NOWHERE
    file, line, _ = places[0]
    return history.site_at(file, line, function_at(file, line))


def _is_sum(expression: ast.expr) -> bool:
    return isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Add)


def lines_of_loss(history: History, event: Backward) -> set[tuple[str, int]]:
    """The lines that the loss was put together on, as the source has them."""
    return {(place.file, place.line) for place in places_of_loss(history, event)}


def _innermost_loop(history: History, event: Backward) -> tuple[str, ast.stmt | None]:
    seen = history.sites.get(event.site)
    nodes = nodes_at(seen.file, seen.line) if seen is not None else iter(())
    loops = [n for n in nodes if isinstance(n, ast.For | ast.While)]
    return (seen.file if seen is not None else "", loops[-1] if loops else None)


def _is_inside(place: SourcePlace, loop: tuple[str, ast.stmt | None]) -> bool:
    """What was made before the loop around the backward began is a constant by right: with a graph, the second round
    would find it used up."""
    file, statement = loop
    if (
        statement is None
        or place.file != file
        or function_at(file, place.line) != function_at(file, statement.lineno)
    ):
        return True
    return statement.lineno <= place.line <= (statement.end_lineno or 0)


def places_of_loss(history: History, event: Backward) -> Iterator[SourcePlace]:
    """The expressions that the loss was made of, as the source has them."""
    loss = loss_of(history, event)
    return followed(loss, _bindings, LINES) if loss is not None else iter(())


def _bindings(place: SourcePlace) -> list[SourcePlace]:
    if _is_switched_off(place):
        return []  # whatever it was made of, it has no graph
    names = [n.id for n in ast.walk(place.expression) if isinstance(n, ast.Name)]
    return [bound for name in names if (bound := bound_before(place, name)) is not None]


def followed(
    first: SourcePlace, onward: Callable[[SourcePlace], Iterable[SourcePlace]], most: int
) -> Iterator[SourcePlace]:
    """It, and what it leads to, each line once."""
    waiting, seen = [first], set[tuple[str, int]]()
    while waiting and len(seen) < most:
        place = waiting.pop()
        if (place.file, place.line) in seen:
            continue
        seen.add((place.file, place.line))
        yield place
        waiting += onward(place)


def loss_of(history: History, event: Backward) -> SourcePlace | None:
    """What `backward` was called on; where that is an argument of its function, what the caller handed in."""
    wanted: ast.expr | None = None
    called = ""
    for site in (event.site, *history.chains.get(event.chain, ())):
        seen = history.sites.get(site)
        if seen is None:
            return None
        calls = [n for n in nodes_at(seen.file, seen.line) if isinstance(n, ast.Call)]
        if not called:
            receivers = [
                c.func.value for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "backward"
            ]
            wanted = receivers[0] if receivers else None
        else:
            arguments = [a for c in calls if _name(c.func) == called for a in c.args]
            wanted = ast.Tuple(arguments, ast.Load()) if arguments else None
        if wanted is None:
            return None
        function = around(seen.file, seen.line)[0]
        own = {a.arg for a in function.args.args} if function is not None else set()
        if not (isinstance(wanted, ast.Name) and wanted.id in own) or function is None:
            return SourcePlace(seen.file, seen.line, wanted)
        called = function.name
    return None


def bound_before(place: SourcePlace, name: str) -> SourcePlace | None:
    """The last assignment to this name before the line, in the same function."""
    function = around(place.file, place.line)[0]
    scope: ast.AST | None = function or tree_of(place.file)
    best: ast.Assign | ast.AugAssign | None = None
    for node in ast.walk(scope) if scope is not None else ():
        if isinstance(node, ast.Assign | ast.AugAssign) and node.lineno < place.line:
            stored = (n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
            is_later = best is None or node.lineno > best.lineno
            if any(n.id == name for n in stored) and is_later:
                best = node
    return None if best is None else SourcePlace(place.file, best.lineno, best.value)


def _kind(place: SourcePlace) -> int | None:
    kinds = [kind for n in ast.walk(place.expression) if (kind := _cuts(place, n)) is not None]
    if _is_switched_off(place):
        kinds.append(SWITCHED_OFF)
    return min(kinds, default=None)


def _cuts(place: SourcePlace, node: ast.AST) -> int | None:
    if isinstance(node, ast.Attribute) and node.attr == "data":
        return LEFT
    if not isinstance(node, ast.Call):
        return None
    name = _name(node.func)
    if name == "detach":
        return DETACHED
    if name in LEAVING:
        return LEFT
    return SWITCHED_OFF if _is_decorated(place.file, name) else None


def _is_decorated(file: str, name: str) -> bool:
    """Whether every function of this name in the file is decorated so that it records no graph."""
    tree = tree_of(file)
    functions = [
        n for n in ast.walk(tree or ast.Module([], [])) if isinstance(n, ast.FunctionDef) and n.name == name
    ]
    return bool(functions) and all(any(map(_is_switch, f.decorator_list)) for f in functions)


def _is_switched_off(place: SourcePlace) -> bool:
    tree = tree_of(place.file)
    blocks = (n for n in ast.walk(tree or ast.Module([], [])) if isinstance(n, ast.With))
    return any(
        b.lineno <= place.line <= (b.end_lineno or 0) and any(_is_switch(i.context_expr) for i in b.items)
        for b in blocks
    )


def _is_switch(expression: ast.expr) -> bool:
    return _name(expression.func if isinstance(expression, ast.Call) else expression) in SWITCHES


def _name(expression: ast.expr) -> str:
    return expression.attr if isinstance(expression, ast.Attribute) else getattr(expression, "id", "")


def nodes_at(file: str, line: int) -> Iterator[ast.AST]:
    tree = tree_of(file)
    for node in ast.walk(tree) if tree is not None else ():
        if getattr(node, "lineno", 0) <= line <= (getattr(node, "end_lineno", None) or 0):
            yield node
