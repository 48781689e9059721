"""Target and reference networks: aliased, not synced, synced the wrong way round."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradsan_benchmark.edits import Change, Source
from gradsan_benchmark.operators.base import operator
from gradsan_benchmark.syntax import (
    assigned,
    block_lines,
    called,
    copies,
    dotted,
    forwards,
    lines,
    method,
    optimizers,
    owner,
    uses,
)


def hard_syncs(source: Source) -> Iterator[tuple[ast.Call, ast.Call]]:
    """(`target.load_state_dict(…)`, its `online.state_dict()`)."""
    for call in method(source, "load_state_dict"):
        given = call.args[0] if call.args else None
        named = isinstance(given, ast.Call) and called(given) == "state_dict" and owner(given) and owner(call)
        if named and isinstance(given, ast.Call):
            yield call, given


def repeated(source: Source, call: ast.Call, given: ast.Call) -> bool:
    """Whether it runs again and again. The copy at the start may go either way: both networks are new then."""
    above = list(source.ancestors(call))
    functions = [a for a in above if isinstance(a, ast.FunctionDef)]
    if any(isinstance(a, ast.For | ast.While) for a in above):
        return True
    made = {
        name for f in functions[:1] for s in ast.walk(f) if isinstance(s, ast.stmt) for name in assigned(s)
    }
    new = {owner(call), owner(given)} & made
    return bool(functions) and not new and functions[0].name != "__init__"


def is_put_aside(source: Source, name: str) -> bool:
    """Whether this is a copy that nobody asks: weights to go back to."""
    last = name.split(".")[-1]
    copied = any(copy.split(".")[-1] == last for copy, _, _ in copies(source))
    return copied and not any(dotted(call.func).split(".")[-1] == last for call in source.calls)


def target_uses(source: Source, target: str) -> tuple[int, ...]:
    asked = [c for c in forwards(source, live=False) if dotted(c.func) == target]
    return tuple(line for c in asked for line in lines(source.statement(c)))


@operator("alias-target", "sync", "GS306 GS808 GS301 GS307 GS804")
def alias_target(source: Source) -> Iterator[Change]:
    """`target = online` in place of a deep copy: they are one network."""
    for copy, original, call in copies(source):
        statement = source.statement(call)
        also = (*uses(source, statement), *target_uses(source, copy))
        yield Change((source.put(call, original),), (*lines(statement), *also))


@operator(
    "reverse-sync",
    "sync",
    "GS809 GS307",
    leaves="the copy at the start: both networks are new then; networks that are loaded from each other, as the "
    "best so far and the last, and copies that nobody asks: the program decides which one is to be kept; and the "
    "states of optimizers",
)
def reverse_sync(source: Source) -> Iterator[Change]:
    """The online network is loaded from the target."""
    ways = {(owner(call), owner(given)) for call, given in hard_syncs(source)}
    for call, given in hard_syncs(source):
        if not repeated(source, call, given) or (owner(given), owner(call)) in ways:
            continue
        if {owner(call), owner(given)} & set(optimizers(source)) or is_put_aside(source, owner(given)):
            continue
        assert isinstance(call.func, ast.Attribute)
        assert isinstance(given.func, ast.Attribute)
        put = source.put(call.func.value, owner(given)), source.put(given.func.value, owner(call))
        yield Change(put, lines(source.statement(call)))


@operator("sync-with-itself", "sync", "GS809 GS307", guard=True)
def sync_with_itself(source: Source) -> Iterator[Change]:
    """The target is loaded from itself."""
    for call, given in hard_syncs(source):
        assert isinstance(given.func, ast.Attribute)
        change = source.put(given.func.value, owner(call))
        also = target_uses(source, owner(call))
        yield Change((change,), (*lines(source.statement(call)), *also))


@operator("reverse-soft-sync", "sync", "GS809 GS307")
def reverse_soft_sync(source: Source) -> Iterator[Change]:
    """The soft update writes the online network: the two sides of the loop are exchanged."""
    for loop in source.nodes:
        if not isinstance(loop, ast.For) or called(loop.iter) != "zip" or not isinstance(loop.iter, ast.Call):
            continue
        written = {"copy_", "lerp_", "mul_", "add_"} & {called(n) for n in ast.walk(loop)}
        given = loop.iter.args
        if written and len(given) == 2 and all(called(g) == "parameters" for g in given):
            first, second = (source.text(g) for g in given)
            yield Change((source.put(given[0], second), source.put(given[1], first)), block_lines(loop))


@operator(
    "exchange-soft-weights", "sync", "GS809 GS307 GS306", leaves="running means: their rate is a setting"
)
def exchange_soft_weights(source: Source) -> Iterator[Change]:
    """The rate and its complement are exchanged in the soft update: the target follows at once."""
    for call in method(source, "lerp_"):
        # The rate of a running mean is a setting.
        if len(call.args) == 2 and over_parameters(source, call):
            weight = call.args[1]
            yield Change((source.put(weight, f"1 - {source.operand(weight)}"),), _around(source, call))
    for call in method(source, "copy_"):
        mixed = call.args[0] if call.args else None
        if isinstance(mixed, ast.BinOp) and isinstance(mixed.op, ast.Add):
            sides = [s for s in (mixed.left, mixed.right) if isinstance(s, ast.BinOp)]
            if len(sides) == 2 and all(isinstance(s.op, ast.Mult) for s in sides):
                first, second = sides[0].left, sides[1].left
                put = source.put(first, source.operand(second)), source.put(second, source.operand(first))
                yield Change(put, _around(source, call))


def over_parameters(source: Source, call: ast.Call) -> bool:
    loops = [a.iter for a in source.ancestors(call) if isinstance(a, ast.For)]
    loops += [g.iter for a in source.ancestors(call) for g in getattr(a, "generators", [])]
    return any(
        called(n) in {"parameters", "named_parameters", "items", "values"} for i in loops for n in ast.walk(i)
    )


def _around(source: Source, call: ast.Call) -> tuple[int, ...]:
    """The statement, and the loop over parameters that it stands in."""
    statement = source.statement(call)
    loop = source.parents[statement]
    return (*lines(statement), *(lines(loop) if isinstance(loop, ast.For) else ()))
