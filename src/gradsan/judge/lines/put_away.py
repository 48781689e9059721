"""Where a script puts away what it has computed, and which lines only hand it back."""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

from gradsan.judge.lines.callers import way_of
from gradsan.judge.lines.source import STORING, around, called_name, names_bound_at, names_in, tree_of
from gradsan.record.events import Op, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History


@functools.lru_cache(maxsize=64)
def put_into(file: str, name: str) -> tuple[int, ...]:
    """The lines that put something into `name`, `self.name` or a part of it: `self.seen[layer].append(output)`."""
    tree = tree_of(file)
    nodes = ast.walk(tree) if tree is not None else ()
    receivers = [into for node in nodes if (into := _receiver(node)) is not None]
    return tuple(into.lineno for into in receivers if _speaks_of(into, name))


def _receiver(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and called_name(node) in STORING:
        return node.func.value
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    return target.value if isinstance(target, ast.Subscript) else None


def _speaks_of(into: ast.expr, name: str) -> bool:
    while isinstance(into, ast.Subscript):
        into = into.value
    return name == (into.attr if isinstance(into, ast.Attribute) else getattr(into, "id", ""))


def kept_by(history: History, op: Op) -> Site:
    """The line that keeps what an operation makes: who called the network that only hands it back, as it should."""
    way = way_of(history, op)
    known = [(site, seen) for site in way if (seen := history.sites.get(site)) is not None]
    apart = (s for s, seen in known if seen.function != "forward" or not hands_back(seen.file, seen.line))
    return next(apart, way[0])


def hands_back(file: str, line: int) -> bool:
    """Whether a line only gives what it computes to the caller: `return h`, or `h = cell(x, h)` before it."""
    function, statement = around(file, line)
    if function is None or isinstance(statement, ast.Return):
        return function is not None
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if any(
        isinstance(part, ast.Attribute | ast.Subscript) for target in targets for part in ast.walk(target)
    ):
        return False
    bound, given = names_bound_at(file, line), {argument.arg for argument in function.args.args}
    reads = bound if isinstance(statement, ast.AugAssign) else names_in(statement or function, ast.Load)
    if reads & bound - given:  # `total += loss`: carried on right here
        return False
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value]
    return bool(bound & {name for value in returned for name in names_in(value)})
