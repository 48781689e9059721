"""GS401: optimizer, backward and step share a scope, and nothing in it ever clears the gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradsan.lint.mistake import Mistake, line
from gradsan.lint.names import dotted
from gradsan.lint.scopes import Scope
from gradsan.lint.source_file import SourceFile

# What may be given the optimizer without clearing anything.
ONLY_READS = ("torch.optim.lr_scheduler.", "torch.amp.", "torch.cuda.amp.")


def check(file: SourceFile) -> Iterator[Mistake]:
    for scope in file.scopes:
        made = {name: value for name, values in scope.bindings.items() if len(values) == 1
                and isinstance(value := values[0], ast.Call) and file.is_optimizer(value)}  # fmt: skip
        if made and not _clears(scope):
            for name, value in made.items():
                yield from _in_scope(file, scope, name, value)


def _clears(scope: Scope) -> bool:
    """By `zero_grad`, through `.grad`, or by a helper whose name says so; also in the functions defined here. A method
    that is named and not called clears nothing."""
    nodes = list(scope.all_nodes())
    idle = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if id(node) in idle:
            continue
        spelt = (
            node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        )
        if spelt == "grad" or ("grad" in spelt and ("zero" in spelt or "clear" in spelt or "reset" in spelt)):
            return True
    return False


def _in_scope(file: SourceFile, home: Scope, optimizer: str, made: ast.Call) -> Iterator[Mistake]:
    """`home` is where the optimizer is made; the loop may be in a function inside."""
    inside = list(_with_inner(home))
    steps = [
        (scope, call) for scope in inside for call in scope.calls()
        if dotted(call.func) == f"{optimizer}.step" and not (call.args or call.keywords)
    ]  # fmt: skip
    if len(steps) != 1 or any(_escapes(file, scope, optimizer) for scope in inside):
        return
    scope, step = steps[0]
    loops = scope.loops_around(step)
    if _is_left_after(loops, step):
        loops = loops[:-1]
    if not loops or (scope is not home and optimizer in scope.bindings):
        return
    loop = loops[-1]
    backwards = [c for c in scope.calls() if _is_backward(c) and loop in scope.loops_around(c)]
    is_remade = scope is home and loop in scope.loops_around(made)
    if not backwards or is_remade or _ends_early(loop) or _may_clear(file, loop, made):
        return
    yield Mistake(
        "GS401",
        scope,
        step,
        f"this step applies the gradient of all earlier iterations once more: backward on {line(backwards[0])} adds "
        f"to it, and nothing since the optimizer was made on {line(made)} clears it",
        (*(("backward", backward) for backward in backwards), ("step", step)),
    )


def _with_inner(scope: Scope) -> Iterator[Scope]:
    yield scope
    for inner in scope.inner:
        yield from _with_inner(inner)


def _is_backward(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "backward"
        and not (call.args or call.keywords)
    )


def _escapes(file: SourceFile, scope: Scope, optimizer: str) -> bool:
    """Whether somebody else gets hold of the optimizer, and may clear in its name."""
    allowed: set[int] = set()
    for node in scope.nodes:
        if isinstance(node, ast.Attribute):
            allowed.add(id(node.value))  # `optimizer.step`
        elif isinstance(node, ast.Call) and file.called(node).startswith(ONLY_READS):
            allowed.update(map(id, node.args))
    uses = [
        n for n in scope.nodes if dotted(n) == optimizer and isinstance(getattr(n, "ctx", None), ast.Load)
    ]
    return any(id(use) not in allowed for use in uses)


def _is_left_after(loops: list[ast.For | ast.AsyncFor | ast.While], step: ast.Call) -> bool:
    """The innermost loop ends with the step: `break` or the like follows it in its own block."""
    blocks = (
        [getattr(n, part, None) for n in ast.walk(loops[-1]) for part in ("body", "orelse")] if loops else []
    )
    for block in blocks:
        lines = [(s.lineno, s.end_lineno or 0, s) for s in block] if isinstance(block, list) else []
        at = [i for i, (first, last, _) in enumerate(lines) if first <= step.lineno <= last]
        if at and any(isinstance(s, ast.Break | ast.Return | ast.Raise) for _, _, s in lines[at[0] + 1 :]):
            return True
    return False


def _ends_early(loop: ast.For | ast.AsyncFor | ast.While) -> bool:
    """A loop that runs once, or is left or taken up elsewhere by its last statement."""
    if isinstance(loop.body[-1], ast.Break | ast.Return | ast.Raise):
        return True
    if isinstance(loop, ast.While):
        return False
    once = isinstance(loop.iter, ast.Call) and dotted(loop.iter.func) == "range" and len(loop.iter.args) == 1
    return once and isinstance(n := loop.iter.args[0], ast.Constant) and n.value == 1  # type: ignore[attr-defined]


def _may_clear(file: SourceFile, loop: ast.For | ast.AsyncFor | ast.While, made: ast.Call) -> bool:
    """A call in the loop, of something that cannot be looked into, that is given the network and returns nothing that
    is used; or of a function of this file that clears."""
    networks = {first for n in ast.walk(made) if (first := dotted(n).split(".")[0])} - {"torch", "self", ""}
    for node in ast.walk(loop):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            given = {
                dotted(a).split(".")[0]
                for part in [*node.value.args, *node.value.keywords]
                for a in ast.walk(part)
            }
            if given & networks and not file.called(node.value).startswith("torch."):
                return True
    called = {dotted(n.func).rpartition(".")[2] for n in ast.walk(loop) if isinstance(n, ast.Call)}
    return any(s.name in called and _clears(s) for s in file.scopes)
