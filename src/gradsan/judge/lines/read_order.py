"""Which way a loop of the script's own runs that sums up what came after a step, or should have: read in the source.

`total = reward + gamma * total` holds what follows only where the loop begins with the last step, and then the sums are
there from the last to the first. Nothing is said where anything else in the file turns something round."""

from __future__ import annotations

import ast
import functools
from typing import Literal, NamedTuple

from gradsan.judge.lines.running_sums import FILLING, carrying_line, runs_backwards
from gradsan.judge.lines.source import around, called_name, loops_around, names_in, tree_of

Order = Literal["the other way round", "from the front"]
TURNING = {"reversed", "reverse", "flip", "flipud", "fliplr", "appendleft", "extendleft", "pop"}
SORTING = {"sort", "sorted", "argsort"}


class ReadOrder(NamedTuple):
    """The wrong order, the line that is to change, and its function."""

    order: Order
    line: int
    function: str


@functools.lru_cache(maxsize=64)
def read_order(file: str, line: int) -> ReadOrder | None:
    """Of the one sum that a loop carries on into what this line hands over."""
    found, tree = carrying_line(file, line), tree_of(file)
    if found is None or tree is None:
        return None
    inside = [loop for loop in loops_around(file, found[0]) if isinstance(loop, ast.For)]
    _, step = around(file, found[0])
    if not inside or not isinstance(step, ast.Assign) or not _is_discounted(step):
        return None
    loop = inside[-1]
    filled = _filled_with(loop, names_in(step.targets[0]))
    turns = [getattr(n, "lineno", 0) for n in ast.walk(tree) if _turns(n)]
    if filled is None or not _reads_forward(loop):
        return None
    if runs_backwards(file, found[0]):
        only_here = (
            set(turns) == {loop.lineno} and isinstance(filled, ast.Call) and called_name(filled) == "append"
        )
        return ReadOrder("the other way round", filled.lineno, found[1]) if only_here else None
    return ReadOrder("from the front", found[0], found[1]) if not turns else None


def _is_discounted(step: ast.Assign) -> bool:
    """`total = reward + gamma * total`; a running mean takes a share of what is new, too."""
    name, value = step.targets[0], step.value
    if (
        not isinstance(name, ast.Name)
        or not isinstance(value, ast.BinOp)
        or not isinstance(value.op, ast.Add)
    ):
        return False
    own = [side for side in (value.left, value.right) if name.id in names_in(side)]
    new = [side for side in (value.left, value.right) if side not in own]
    shares = [n for n in ast.walk(own[0]) if isinstance(n, ast.BinOp)] if own else []
    is_share = any(isinstance(n.op, ast.Mult) and name.id in names_in(n) for n in shares)
    only_shared = not any(isinstance(n.op, ast.Add | ast.Sub) and name.id in names_in(n) for n in shares)
    return len(own) == 1 and is_share and only_shared and isinstance(new[0], ast.Name | ast.Subscript)


def _filled_with(loop: ast.For, carried: set[str]) -> ast.Call | ast.Assign | None:
    """The only thing in this loop that puts anything away: the sum, behind what is there or at the step's own place."""
    calls = [n for n in ast.walk(loop) if isinstance(n, ast.Call) and called_name(n) in FILLING | {"extend"}]
    puts = [
        n for n in ast.walk(loop) if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Subscript)
    ]
    found: list[ast.Call | ast.Assign] = [*calls, *puts]
    if len(found) != 1:
        return None
    value = found[0].args[-1] if isinstance(found[0], ast.Call) else found[0].value
    return found[0] if carried & names_in(value) else None


def _reads_forward(loop: ast.For) -> bool:
    """No place is counted from the end: `rewards[n - 1 - t]`, `rewards[-t]`."""
    own = names_in(loop.target)
    for node in ast.walk(loop):
        away = node.right if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) else None
        turned = node.operand if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not) else None
        if any(side is not None and _is_a_place(loop, side, own) for side in (away, turned)):
            return False
    return True


def _is_a_place(loop: ast.For, side: ast.expr, own: set[str]) -> bool:
    """Whether the loop's variable counts steps, and stands here as it is."""
    counts = isinstance(loop.iter, ast.Call) and called_name(loop.iter) in {"range", "reversed", "enumerate"}
    return counts and isinstance(side, ast.Name) and side.id in own


def _turns(node: ast.AST) -> bool:
    if isinstance(node, ast.Slice):
        return any(isinstance(n, ast.USub) for n in ast.walk(node.step)) if node.step is not None else False
    if not isinstance(node, ast.Call):
        return False
    if called_name(node) == "insert":  # a buffer may have a method of that name
        return bool(node.args) and getattr(node.args[0], "value", None) == 0
    if called_name(node) == "range":
        return len(node.args) == 3 and isinstance(node.args[2], ast.UnaryOp)  # `-1`
    falling = any(k.arg in ("reverse", "descending") for k in node.keywords)
    return called_name(node) in TURNING or (called_name(node) in SORTING and falling)
