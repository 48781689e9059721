"""A gradient flows where it must not: what kept it out is gone."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from gradsan_benchmark.edits import Change, Source
from gradsan_benchmark.operators.base import operator
from gradsan_benchmark.syntax import (
    assigned,
    block_lines,
    called,
    dotted,
    is_no_grad,
    lines,
    method,
    pairs,
    scope,
    uses,
)

# Which leak it is depends on where the value goes: a target, an advantage, another loss, the next iteration.
GRAPHS = "prob|value|entrop|loss|hidden"
LEAK = "GS301 GS302 GS303 GS304 GS305 GS209 GS402 GS102 GS101 GS804 GS808"


def statement_and_uses(source: Source, node: ast.AST) -> tuple[int, ...]:
    """The live use may be named where the value is made or where it is used next; of a value that a function returns,
    where it is called; of one that is kept in a list, where a loop reads what it takes from there."""
    statement = source.statement(node)
    reading = uses(source, statement)
    own = isinstance(scope(source, statement), ast.FunctionDef)
    ends = [
        n
        for n in source.nodes
        if isinstance(n, ast.Return) and set(lines(n)) <= {*lines(statement), *reading}
    ]
    callers = caller_lines(source, statement) if own and ends else ()
    taken = element_uses(source, set(assigned(statement)), reading)
    return (*lines(statement), *reading, *taken, *callers, *argument_uses(source, node))


def element_uses(source: Source, names: set[str], reading: Iterable[int]) -> tuple[int, ...]:
    """`for reward in reversed(rewards)`: the lines of the loop that read `reward`."""
    found: list[int] = []
    for loop in (n for n in source.nodes if isinstance(n, ast.For) and n.lineno in set(reading)):
        zipped = called(loop.iter) == "zip" and isinstance(loop.iter, ast.Call)
        values = loop.iter.args if zipped else [loop.iter]  # type: ignore[attr-defined]
        targets = loop.target.elts if zipped and isinstance(loop.target, ast.Tuple) else [loop.target]
        for target, value in zip(targets, values, strict=False):
            if names & {dotted(n) for n in ast.walk(value)}:
                own = {dotted(n) for n in ast.walk(target)} - {""}
                read = [n for s in loop.body for n in ast.walk(s) if isinstance(n, ast.Name) and n.id in own]
                found += [line for n in read for line in lines(source.statement(n))]
    return tuple(found)


def argument_uses(source: Source, node: ast.AST) -> tuple[int, ...]:
    """Where functions of this file read what they are handed here, one around the other."""
    found: list[int] = []
    inside = [node, *source.ancestors(node)]
    for inner, call in pairwise(inside):
        if not isinstance(call, ast.Call) or inner not in call.args:
            continue
        for function in source.nodes:
            if isinstance(function, ast.FunctionDef) and function.name == called(call):
                names = [a.arg for a in function.args.args if a.arg != "self"]
                place = call.args.index(inner)
                name = names[place] if place < len(names) else ""
                read = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name]
                found += [line for n in read for line in lines(source.statement(n))]
                break
    return tuple(found)


def caller_lines(source: Source, statement: ast.stmt) -> tuple[int, ...]:
    names = names_of(source, scope(source, statement))
    found = [call for call in source.calls if called(call) in names or dotted(call.func) in names]
    made = [source.statement(call) for call in found]
    return tuple(line for s in made for line in (*lines(s), *uses(source, s)))


def names_of(source: Source, function: ast.AST) -> set[str]:
    """What a function is called by: its own name; of a network's `forward`, the names of networks of that class; and
    what a transform made of it, `critics = vmap(one)`."""
    name = getattr(function, "name", "")
    above = source.parents.get(function)
    if name in ("forward", "__call__") and isinstance(above, ast.ClassDef):
        return made_by(source, lambda call: called(call) == above.name)
    handed = made_by(source, lambda call: any(dotted(a) == name for a in call.args)) if name else set()
    return {name, *handed} - {""}


def made_by(source: Source, is_it: Callable[[ast.Call], bool]) -> set[str]:
    found: set[str] = set()
    for statement in source.simple:
        if isinstance(statement, ast.Assign):
            for target, value in pairs(statement):
                if isinstance(value, ast.Call) and is_it(value):
                    found.add(dotted(target))
    return found - {""}


@operator("drop-detach", "leak", LEAK)
def drop_detach(source: Source) -> Iterator[Change]:
    """`.detach()` is forgotten."""
    for call in method(source, "detach"):
        assert isinstance(call.func, ast.Attribute)
        where = (*statement_and_uses(source, call), *bound_for(source, call))
        yield Change((source.tail(call.func.value, call),), where)


def bound_for(source: Source, call: ast.Call) -> tuple[int, ...]:
    """Where a name gets its value that nothing but this call reads: it may be detached there as well."""
    assert isinstance(call.func, ast.Attribute)
    name, inside = call.func.value, scope(source, call)
    if not isinstance(name, ast.Name):
        return ()
    same = [n for n in ast.walk(inside) if isinstance(n, ast.Name) and n.id == name.id]
    bound = [source.statement(n) for n in same if isinstance(n.ctx, ast.Store)]
    alone = sum(isinstance(n.ctx, ast.Load) for n in same) == 1 and len(bound) == 1
    return lines(bound[0]) if alone and assigned(bound[0]) == [name.id] else ()


@operator("drop-no-grad-block", "leak", LEAK + " GS103")
def drop_no_grad_block(source: Source) -> Iterator[Change]:
    """`with torch.no_grad():` is forgotten; its body runs with gradients."""
    for block in source.nodes:
        if isinstance(block, ast.With) and len(block.items) == 1 and is_no_grad(block.items[0].context_expr):
            start, end = (
                source.at(block.lineno, block.col_offset),
                source.span(block.items[0].context_expr)[1],
            )
            after = [line for s in block.body for line in uses(source, s)]
            yield Change(((start, end, "if True"),), (*block_lines(block), *after))


@operator("drop-no-grad-decorator", "leak", LEAK + " GS103")
def drop_no_grad_decorator(source: Source) -> Iterator[Change]:
    """`@torch.no_grad()` above a function is forgotten."""
    for function in source.nodes:
        if not isinstance(function, ast.FunctionDef):
            continue
        for decorator in function.decorator_list:
            if is_no_grad(decorator):
                start, end = source.span(decorator)
                whole = tuple(range(decorator.lineno, (function.end_lineno or 0) + 1))
                callers = caller_lines(source, function.body[0])
                calls = [n for s in function.body for n in ast.walk(s) if isinstance(n, ast.Call)]
                handed = [
                    line for call in calls for given in call.args for line in argument_uses(source, given)
                ]
                yield Change(((start - 1, end, ""),), (*whole, *callers, *handed))


@operator("drop-item", "leak", LEAK + " GS103")
def drop_item(source: Source) -> Iterator[Change]:
    """`.item()` is forgotten: a number that is kept or logged carries its graph along."""
    for call in method(source, "item"):
        assert isinstance(call.func, ast.Attribute)
        yield Change((source.tail(call.func.value, call),), statement_and_uses(source, call))


@operator("drop-float", "leak", LEAK)
def drop_float(source: Source) -> Iterator[Change]:
    """`float(x)` becomes `x`: a number that is kept or logged carries its graph along."""
    for call in source.calls:
        converts = isinstance(call.func, ast.Name) and call.func.id == "float" and len(call.args) == 1
        if converts and not isinstance(call.args[0], ast.Constant):
            text = f"({source.text(call.args[0])})"
            yield Change((source.put(call, text),), statement_and_uses(source, call))


@operator("drop-data", "leak", LEAK + " GS103")
def drop_data(source: Source) -> Iterator[Change]:
    """`.data` is forgotten: the parameter itself is read or written, with gradients on."""
    for node in source.nodes:
        if isinstance(node, ast.Attribute) and node.attr == "data" and dotted(node.value) not in ("", "self"):
            yield Change((source.tail(node.value, node),), statement_and_uses(source, node))


@operator(
    "keep-growing-list", "carry", "GS305 GS402 GS102 GS401", leaves="lists of numbers, which may well be kept"
)
def keep_growing_list(source: Source) -> Iterator[Change]:
    """What was stored for one update is not cleared before the next: `log_probs.clear()` is forgotten."""
    for statement in source.simple:
        cleared = isinstance(statement, ast.Expr) and called(statement.value) == "clear"
        deleted = isinstance(statement, ast.Delete) and isinstance(statement.targets[0], ast.Subscript)
        # What holds numbers may well be kept; what holds values of networks must not.
        if (cleared or deleted) and re.search(GRAPHS, source.text(statement)):
            yield Change((source.put(statement, "pass"),), (*lines(statement), *_readers(source, statement)))


def _readers(source: Source, statement: ast.stmt) -> tuple[int, ...]:
    """The lines that mention the list that should have been emptied."""
    node = statement.value if isinstance(statement, ast.Expr) else statement
    inner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    if isinstance(statement, ast.Delete) and isinstance(statement.targets[0], ast.Subscript):
        inner = statement.targets[0].value
    name = dotted(inner)
    named = [n for n in source.nodes if name and dotted(n) == name]
    return tuple(line for n in named for line in lines(source.statement(n)))


@operator(
    "carry-loop-list", "carry", "GS305 GS402 GS102 GS401", leaves="lists of numbers, which may well be kept"
)
def carry_loop_list(source: Source) -> Iterator[Change]:
    """A list that belongs to one update lives on: `log_probs = []` no longer makes a new one."""
    for statement in source.simple:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.List):
            continue
        target = statement.targets[0]
        looped = any(isinstance(a, ast.For | ast.While) for a in source.ancestors(statement))
        graphs = isinstance(target, ast.Name) and re.search(GRAPHS, target.id)
        if not statement.value.elts and isinstance(target, ast.Name) and graphs and looped:
            kept = f'locals().get("{target.id}", [])'
            reading = uses(source, statement)
            yield Change((source.put(statement.value, kept),), (*lines(statement), *reading))
