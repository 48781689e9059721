"""The line that puts a transition away, beside the step that it is about: `memory.append((obs, action, reward, done))`.

What is kept in lists and arrays passes no tap. Where a column of a batch belongs to another step than its observations,
the line to change is the one that keeps them together."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from gradsan.judge.history import History
from gradsan.judge.lines.source import called_name, names_in, tree_of
from gradsan.record.events import Site

FEWEST = 3  # parts of a transition
RETURNED = (3, 4, 5)  # what a step gives back
Place = tuple[int, str]  # a line, and its function
Function = ast.FunctionDef | ast.Module


def stored_at(history: History, site: Site) -> Site:
    """The one such line of the file; `site` itself, where the source does not tell."""
    return _one_of(history, site, alone=False)


def reward_stored_at(history: History, site: Site) -> Site:
    """The same; where each part of a transition is kept by itself, the one line that keeps the reward."""
    return _one_of(history, site, alone=True)


def _one_of(history: History, site: Site, alone: bool) -> Site:
    seen = history.sites.get(site)
    places = _places(seen.file, alone) if seen is not None else frozenset()
    if seen is None or len(places) != 1:
        return site
    line, function = next(iter(places))
    return history.site_at(seen.file, line, function)


@functools.lru_cache(maxsize=64)
def _places(file: str, with_alone: bool) -> frozenset[Place]:
    """Of all loops in which an environment is stepped: those that only play (an evaluation) keep nothing."""
    tree = tree_of(file)
    nodes = list(ast.walk(tree)) if tree is not None else []
    whole: dict[int, str] = {}
    alone: dict[int, str] = {}
    for function in (n for n in nodes if isinstance(n, ast.FunctionDef | ast.Module)):
        for loop in (n for n in ast.walk(function) if isinstance(n, ast.For | ast.While)):
            for rewards in _steps(loop):  # the inner function comes later
                whole |= dict.fromkeys(_storing(loop), _name(function))
                alone |= dict.fromkeys(_keeping(loop, rewards), _name(function))
    return frozenset((whole or (alone if with_alone else {})).items())


def _steps(loop: ast.AST) -> Iterator[set[str]]:
    """What the reward of each step is called."""
    taken = [n for n in ast.walk(loop) if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)]
    for parts in (
        n.targets[0] for n in taken if isinstance(n.value, ast.Call) and called_name(n.value) == "step"
    ):
        if isinstance(parts, ast.Tuple) and len(parts.elts) in RETURNED:
            yield names_in(parts.elts[1])


def _storing(loop: ast.AST) -> list[int]:
    statements = [n for n in ast.walk(loop) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)]
    return [n.lineno for n in statements if _keeps(n.value)]


def _keeping(loop: ast.AST, rewards: set[str]) -> list[int]:
    """`rewards.append(reward)`, or `rewards[t] = reward`."""
    found: list[int] = []
    for n in ast.walk(loop):
        if (isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Subscript)) or (
            isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) and called_name(n.value) == "append"
        ):
            kept = n.value
        else:
            continue
        found += [n.lineno] if rewards & names_in(kept) else []
    return found


def _keeps(call: ast.expr) -> bool:
    """A method of something, which is given at least so many variables side by side."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    parts = [*call.args, *(keyword.value for keyword in call.keywords)]
    if len(parts) == 1:
        parts = _inside(parts[0])
    return sum(bool(names_in(part)) for part in parts) >= FEWEST


def _inside(part: ast.expr) -> list[ast.expr]:
    """Of a tuple, a dictionary or a record."""
    if isinstance(part, ast.Tuple | ast.List):
        return part.elts
    if isinstance(part, ast.Dict):
        return part.values
    return [*part.args, *(k.value for k in part.keywords)] if isinstance(part, ast.Call) else []


def _name(function: Function) -> str:
    return function.name if isinstance(function, ast.FunctionDef) else "<module>"
