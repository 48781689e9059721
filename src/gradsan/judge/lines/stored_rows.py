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

FEWEST, FEWEST_OF_STEP = 3, 2  # parts of a transition, and those of them that the step has given
RETURNED = (3, 4, 5)  # what a step gives back
OBSERVATION, REWARD = 0, 1  # their places in it
Place = tuple[int, str]  # a line, and its function
Function = ast.FunctionDef | ast.Module


def stored_at(history: History, site: Site) -> Site:
    """The one such line of the file; `site` itself, where the source does not tell."""
    return _one_of(history, site, alone=())


def reward_stored_at(history: History, site: Site) -> Site:
    """The same; where each part of a transition is kept by itself, the one line that keeps the reward."""
    return _one_of(history, site, alone=(REWARD,))


def observation_stored_at(history: History, site: Site) -> Site:
    """The same; where each part is kept by itself, the one line that keeps the observation once the step is taken."""
    return _one_of(history, site, alone=(OBSERVATION,))


def _one_of(history: History, site: Site, alone: tuple[int, ...]) -> Site:
    seen = history.sites.get(site)
    places = _places(seen.file, alone) if seen is not None else frozenset()
    if seen is None or len(places) != 1:
        return site
    line, function = next(iter(places))
    return history.site_at(seen.file, line, function)


@functools.lru_cache(maxsize=64)
def _places(file: str, parts_alone: tuple[int, ...]) -> frozenset[Place]:
    """Of all loops in which an environment is stepped: those that only play (an evaluation) keep nothing.
    `parts_alone`: which parts may be kept by themselves."""
    tree = tree_of(file)
    nodes = list(ast.walk(tree)) if tree is not None else []
    whole: dict[int, str] = {}
    alone: dict[int, str] = {}
    for function in (n for n in nodes if isinstance(n, ast.FunctionDef | ast.Module)):
        for loop in (n for n in ast.walk(function) if isinstance(n, ast.For | ast.While)):
            for parts in _steps(loop):  # the inner function comes later
                whole |= dict.fromkeys(_storing(loop, names_in(parts)), _name(function))
                for part in parts_alone:
                    kept = _keeping(
                        loop, names_in(parts.elts[part]), parts.lineno if part == OBSERVATION else 0
                    )
                    alone |= dict.fromkeys(kept, _name(function))
    return frozenset((whole or alone).items())


def _steps(loop: ast.AST) -> Iterator[ast.Tuple]:
    """What the parts of each step are called."""
    taken = [n for n in ast.walk(loop) if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)]
    for parts in (
        n.targets[0] for n in taken if isinstance(n.value, ast.Call) and called_name(n.value) == "step"
    ):
        if isinstance(parts, ast.Tuple) and len(parts.elts) in RETURNED:
            yield parts


def _storing(loop: ast.AST, given: set[str]) -> Iterator[int]:
    """`memory.push(obs, action, reward)`, `rows.append((obs, action, reward))`, `rows += [(obs, action, reward)]`."""
    for n in ast.walk(loop):
        parts: list[ast.expr] = []
        if (
            isinstance(n, ast.Expr)
            and isinstance(n.value, ast.Call)
            and isinstance(n.value.func, ast.Attribute)
        ):
            parts = [*n.value.args, *(keyword.value for keyword in n.value.keywords)]
            parts = _inside(parts[0]) if len(parts) == 1 else parts
        elif isinstance(n, ast.AugAssign) and isinstance(n.value, ast.List | ast.ListComp):
            parts = _inside(n.value)
        names = [names_in(part) for part in parts]
        of_step = sum(bool(own & given) for own in names)
        if of_step >= FEWEST_OF_STEP and sum(map(bool, names)) >= FEWEST and isinstance(n, ast.stmt):
            yield n.lineno


def _keeping(loop: ast.AST, names: set[str], after: int) -> Iterator[int]:
    """`rewards.append(reward)`, or `rewards[t] = reward`, behind a line."""
    for n in (n for n in ast.walk(loop) if getattr(n, "lineno", 0) > after):
        written = isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Subscript)
        added = isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) and called_name(n.value) == "append"
        if isinstance(n, ast.Assign | ast.Expr) and (written or added) and names & names_in(n.value):
            yield n.lineno


def _inside(part: ast.expr) -> list[ast.expr]:
    """Of a tuple, a dictionary or a record, or of several in a list."""
    if isinstance(part, ast.ListComp | ast.GeneratorExp):
        return _inside(part.elt)
    if isinstance(part, ast.List) and len(part.elts) == 1:
        return _inside(part.elts[0])
    if isinstance(part, ast.Tuple | ast.List):
        return part.elts
    if isinstance(part, ast.Dict):
        return part.values
    return [*part.args, *(k.value for k in part.keywords)] if isinstance(part, ast.Call) else []


def _name(function: Function) -> str:
    return function.name if isinstance(function, ast.FunctionDef) else "<module>"
