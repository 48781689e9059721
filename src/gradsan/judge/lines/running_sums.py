"""The line of a loop that carries a return from step to step: `running = reward + gamma * running`.

Numbers that a loop has put into a list or an array reach torch as a whole, on another line; the one to change is the
one that lets the sum run on."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from gradsan.judge.history import History
from gradsan.judge.lines.arrival_lines import ARRIVING
from gradsan.judge.lines.source import around, called_name, loops_around, names_in, tree_of
from gradsan.record.events import Site

LEVELS = 2  # of assignments
FILLING = {"append", "insert", "appendleft"}
Function = ast.FunctionDef | ast.Module


def carried_on_at(history: History, site: Site) -> Site:
    """The one line that carries on what this line hands over; the line itself, where the source does not tell."""
    return _one_line(history, site, filling=False)


def filled_at(history: History, site: Site) -> Site:
    """The one line that puts what the loop carries on behind, or in front of, what is there; the line itself, where the
    source does not tell."""
    return _one_line(history, site, filling=True)


def piled_up_at(history: History, site: Site) -> Site:
    """The line that is wrong where each sum holds what came before it: the one that carries on, or, where its loop
    begins with the last step, the one that leaves the sums in that order."""
    carrying = carried_on_at(history, site)
    seen = history.sites.get(carrying)
    return filled_at(history, site) if seen is not None and runs_backwards(seen.file, seen.line) else carrying


def runs_backwards(file: str, line: int) -> bool:
    """`for reward in reversed(rewards)`, `rewards[::-1]`, `range(n - 1, -1, -1)`."""
    inside = [loop for loop in loops_around(file, line) if isinstance(loop, ast.For)]
    words = ast.unparse(inside[-1].iter) if inside else ""
    return any(word in words for word in ("reversed(", "::-1", ", -1)"))


def _one_line(history: History, site: Site, filling: bool) -> Site:
    seen = history.sites.get(site)
    if seen is None:
        return site
    found = _carrying(seen.file, seen.line, filling) or _lone_sum(seen.file, seen.line, filling)
    if found is None:
        return site
    return history.site_at(seen.file, found[0], found[1])


def cut_at(history: History, site: Site) -> Site:
    """The one line of the same loop that says where the sum is cut off, `1 - done`; the line that carries it on, where
    the source does not tell."""
    carrying = carried_on_at(history, site)
    seen = history.sites.get(carrying)
    statement = around(seen.file, seen.line)[1] if seen is not None else None
    if seen is None or statement is None or (carrying == site and not _carries(statement)):
        return carrying
    inside = loops_around(seen.file, seen.line)
    lines = [step.lineno for step in inside[-1].body if _is_cut(step)] if inside else []
    return history.site_at(seen.file, lines[0], seen.function) if len(lines) == 1 else carrying


def added_at(history: History, site: Site) -> Site:
    """The one line that adds a step's reward and the value after it, `delta = r + gamma * v' - v`, for the sum that is
    carried on; the line that carries it on, where the source does not tell."""
    carrying = carried_on_at(history, site)
    seen = history.sites.get(carrying)
    inner, statement = around(seen.file, seen.line) if seen is not None else (None, None)
    function = inner or (tree_of(seen.file) if seen is not None else None)
    if seen is None or function is None or statement is None:
        return carrying
    if carrying == site and not _carries(statement):
        return carrying
    assigned = [n for n in ast.walk(function) if isinstance(n, ast.Assign) and n is not statement]
    wanted = names_in(statement)
    lines = {n.lineno for n in assigned if wanted & set().union(*map(names_in, n.targets)) and _is_error(n)}
    return history.site_at(seen.file, lines.pop(), seen.function) if len(lines) == 1 else carrying


def _carries(step: ast.stmt) -> bool:
    """`last = delta + c * last`."""
    own = names_in(step.targets[0]) & names_in(step.value) if isinstance(step, ast.Assign) else set()
    return bool(own)


def _is_error(step: ast.Assign) -> bool:
    """Whether it adds something up, and takes something else away from that; not in an index, `values[t + 1]`."""
    places = [n.slice for n in ast.walk(step.value) if isinstance(n, ast.Subscript)]
    inside = {id(n) for place in places for n in ast.walk(place)}
    signs = [type(n.op) for n in ast.walk(step.value) if isinstance(n, ast.BinOp) and id(n) not in inside]
    return ast.Add in signs and ast.Sub in signs


def _is_cut(step: ast.stmt) -> bool:
    """Whether it takes flags from one."""
    ones = [n.left for n in ast.walk(step) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Sub)]
    return isinstance(step, ast.Assign) and any(isinstance(n, ast.Constant) and n.value == 1 for n in ones)


def carrying_line(file: str, line: int) -> tuple[int, str] | None:
    """The one line that carries on what this line hands over, and its function."""
    return _carrying(file, line, False)


@functools.lru_cache(maxsize=64)
def _carrying(file: str, line: int, filling: bool) -> tuple[int, str] | None:
    tree = tree_of(file)
    if tree is None:
        return None
    inner, statement = around(file, line)
    function: Function = inner or tree
    if statement is None:
        return None
    lines: dict[int, Function] = {}  # and whose they are: a script holds those of its functions, too
    for part in _behind(function, statement):
        lines = dict.fromkeys(_lines(function, part, filling), function) | lines
        for call in (n for n in ast.walk(part) if isinstance(n, ast.Call)):
            for helper in _defined(tree, call):
                for returned in (n for n in ast.walk(helper) if isinstance(n, ast.Return)):
                    lines |= dict.fromkeys(_lines(helper, returned, filling), helper)
    if len(lines) != 1:
        return None
    number, within = lines.popitem()
    return number, within.name if isinstance(within, ast.FunctionDef) else "<module>"


@functools.lru_cache(maxsize=64)
def _lone_sum(file: str, line: int, filling: bool) -> tuple[int, str] | None:
    """The only sum in this file that a loop carries on into something, where numbers arrive on this line from
    somewhere that the names around do not tell."""
    tree, (_, statement) = tree_of(file), around(file, line)
    calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call)] if statement is not None else []
    if tree is None or not any(called_name(call) in ARRIVING for call in calls):
        return None
    functions: list[Function] = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    found = {
        (number, within.name if isinstance(within, ast.FunctionDef) else "<module>")
        for within in functions or [tree]
        for loop in ast.walk(within)
        if isinstance(loop, ast.For | ast.While)
        for number in _sums_in(loop, None, filling)
    }
    return found.pop() if len(found) == 1 else None


def _behind(function: Function, statement: ast.stmt) -> list[ast.stmt]:
    """The statement, and the last ones that assigned what it is made of."""
    found = [statement]
    for _ in range(LEVELS):
        for name in set().union(*map(names_in, found)):
            before = [
                n for n in ast.walk(function) if isinstance(n, ast.stmt) and n.lineno < statement.lineno
            ]
            own = [n for n in before if _assigns(n, name) or _extends(n, name)]
            if own and (last := max(own, key=lambda n: n.lineno)) not in found:
                found.append(last)
    return found


def _assigns(statement: ast.stmt, name: str) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(name in names_in(target) for target in targets if _binds(target))


def _extends(statement: ast.stmt, name: str) -> bool:
    """`returns += summed(rewards)`, or `returns.extend(summed(rewards))`."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.value, ast.Call):
        return _name(statement.target) == name
    call = statement.value if isinstance(statement, ast.Expr) else None
    if (
        not isinstance(call, ast.Call)
        or not isinstance(call.func, ast.Attribute)
        or call.func.attr != "extend"
    ):
        return False
    return _name(call.func.value) == name and isinstance(call.args[0], ast.Call)


def _binds(target: ast.expr) -> bool:
    return isinstance(target, ast.Name | ast.Tuple)


def _lines(function: Function, statement: ast.stmt, filling: bool) -> Iterator[int]:
    """Of the sums that run on into what the names of this statement were filled with; or of the filling."""
    wanted, made = names_in(statement), names_in(statement, ast.Store)
    for loop in (n for n in ast.walk(function) if isinstance(n, ast.For | ast.While)):
        # What is made empty here is filled below.
        yield from _sums_in(loop, wanted if loop.lineno < statement.lineno else made, filling)


def _sums_in(loop: ast.For | ast.While, wanted: set[str] | None, filling: bool) -> Iterator[int]:
    """The lines of the sums that this loop carries on into one of these; into anything, where none are given."""
    put = {
        name: value.lineno
        for target, value in _fillings(loop)
        if wanted is None or target in wanted
        for name in names_in(value)
    }
    for step in loop.body:
        bound = (
            {t.id for t in step.targets if isinstance(t, ast.Name)} if isinstance(step, ast.Assign) else set()
        )
        carried = bound & put.keys() & names_in(step.value) if isinstance(step, ast.Assign) else set()
        if isinstance(step, ast.Assign) and carried and _adds(step.value):
            yield put[min(carried)] if filling else step.lineno


def _adds(value: ast.expr) -> bool:
    return any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Add | ast.Sub) for n in ast.walk(value))


def _fillings(loop: ast.For | ast.While) -> Iterator[tuple[str, ast.expr]]:
    """Which variable is filled with what."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign):
            pairs = zip(_side(node.targets[0]), _side(node.value), strict=False)
            yield from [(_name(t.value), value) for t, value in pairs if isinstance(t, ast.Subscript)]
        elif isinstance(node, ast.Call) and isinstance(called := node.func, ast.Attribute):
            yield from [(_name(called.value), value) for value in node.args[-1:] if called.attr in FILLING]


def _side(expression: ast.expr) -> list[ast.expr]:
    """Of `buffer[t], after = carry, values[t]`, either."""
    return expression.elts if isinstance(expression, ast.Tuple) else [expression]


def _name(expression: ast.expr) -> str:
    return expression.id if isinstance(expression, ast.Name) else ""


def _defined(tree: ast.Module, call: ast.Call) -> list[ast.FunctionDef]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == called_name(call)]
