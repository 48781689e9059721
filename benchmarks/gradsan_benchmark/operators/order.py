"""The right gradient at the wrong moment: clearing, backward, clipping and stepping, forgotten or out of order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradsan_benchmark.edits import Change, Source
from gradsan_benchmark.operators.base import operator
from gradsan_benchmark.syntax import called, dotted, lines, method, optimizers, owner, steps


def expressions(source: Source, calls: list[ast.Call]) -> Iterator[tuple[ast.Expr, ast.Call]]:
    """Those calls that are whole statements."""
    for call in calls:
        parent = source.parents[call]
        if isinstance(parent, ast.Expr):
            yield parent, call


def clips(source: Source) -> list[ast.Call]:
    return [call for call in source.calls if called(call).startswith("clip_grad")]


def consumers(source: Source, call: ast.Call) -> tuple[int, ...]:
    """The steps that consume what this call should have cleared: its optimizer's, be it a loss scaler that takes them;
    or all for a network's."""
    scaled = [
        c for c in method(source, "step") if len(c.args) == 1 and dotted(c.args[0]) == owner(call) != ""
    ]
    mine = [*steps(source, owner(call)), *scaled] or steps(source)
    return tuple(line for step in mine for line in lines(source.statement(step)))


def backwards(source: Source) -> tuple[int, ...]:
    return tuple(line for call in method(source, "backward") for line in lines(source.statement(call)))


def swaps(source: Source, first: list[ast.Call], second: list[ast.Call]) -> Iterator[Change]:
    """Two neighbouring statements change places, each on one line."""
    for statement, _ in expressions(source, first):
        following = neighbour(source, statement)
        if not isinstance(following, ast.Expr) or following.value not in second:
            continue
        if len(lines(statement)) == len(lines(following)) == 1:
            there = source.text(following), source.text(statement)
            put = source.put(statement, there[0]), source.put(following, there[1])
            yield Change(put, (*lines(statement), *lines(following)))


def neighbour(source: Source, statement: ast.stmt) -> ast.stmt | None:
    for body in ("body", "orelse"):
        siblings = getattr(source.parents[statement], body, None)
        if isinstance(siblings, list) and statement in siblings:
            place = siblings.index(statement) + 1
            return siblings[place] if place < len(siblings) else None
    return None


@operator("drop-zero-grad", "order", "GS401 GS304")
def drop_zero_grad(source: Source) -> Iterator[Change]:
    """`zero_grad()` is forgotten: the gradients of all updates add up."""
    for statement, call in expressions(source, method(source, "zero_grad")):
        yield Change((source.put(statement, "pass"),), (*lines(statement), *consumers(source, call)))


@operator("zero-other-optimizer", "order", "GS401 GS304 GS405")
def zero_other(source: Source) -> Iterator[Change]:
    """Another optimizer's gradients are cleared than the ones that are about to be made."""
    for statement, call in expressions(source, method(source, "zero_grad")):
        others = [name for name in optimizers(source) if name != owner(call)]
        if owner(call) in optimizers(source) and others and isinstance(call.func, ast.Attribute):
            change = source.put(call.func.value, others[0])
            yield Change((change,), (*lines(statement), *consumers(source, call)))


@operator("zero-after-backward", "order", "GS405 GS404")
def zero_after_backward(source: Source) -> Iterator[Change]:
    """`zero_grad()` comes after `backward()`: it wipes what was just made."""
    yield from swaps(source, method(source, "zero_grad"), method(source, "backward"))


@operator("zero-every-micro-batch", "order", "GS405")
def zero_every_micro_batch(source: Source) -> Iterator[Change]:
    """`zero_grad()` in front of every backward of an accumulation: only the last micro-batch counts."""
    made = [name for name in optimizers(source) if "." not in name] or list(optimizers(source))
    for statement, _ in expressions(source, method(source, "backward")):
        loop = source.parents[statement]
        inside = any(called(n) == "step" for n in ast.walk(loop) if n in steps(source))
        if isinstance(loop, ast.For) and not inside and made:
            start = source.span(statement)[0]
            yield Change(((start, start, f"{made[0]}.zero_grad(); "),), lines(statement))


@operator("step-before-backward", "order", "GS404 GS401 GS102")
def step_before_backward(source: Source) -> Iterator[Change]:
    """`step()` comes before `backward()`."""
    yield from swaps(source, method(source, "backward"), steps(source))


@operator("drop-backward", "order", "GS404")
def drop_backward(source: Source) -> Iterator[Change]:
    """`loss.backward` without its parentheses: nothing runs."""
    for statement, call in expressions(source, method(source, "backward")):
        following = tuple(
            n for s in steps(source) for n in lines(source.statement(s)) if n > statement.lineno
        )
        yield Change((source.tail(call.func, call),), (*lines(statement), *following[:2]))


@operator("drop-step", "order", "GS205 GS206 GS401 GS405")
def drop_step(source: Source) -> Iterator[Change]:
    """`optimizer.step()` is forgotten: gradients are made, and nothing moves."""
    for statement, call in expressions(source, steps(source)):
        made = optimizers(source).get(owner(call))
        creation = lines(source.statement(made)) if made else ()
        yield Change((source.put(statement, "pass"),), (*lines(statement), *creation, *backwards(source)))


@operator("step-twice", "order", "GS404")
def step_twice(source: Source) -> Iterator[Change]:
    """`step()` is called twice for one backward."""
    for statement, _ in expressions(source, steps(source)):
        yield Change((source.after(statement, f"; {source.text(statement)}"),), lines(statement))


@operator("step-other-optimizer", "order", "GS404 GS401 GS304 GS205")
def step_other(source: Source) -> Iterator[Change]:
    """Another optimizer steps than the one whose gradients were made."""
    for statement, call in expressions(source, steps(source)):
        others = [name for name in optimizers(source) if name != owner(call)]
        if owner(call) in optimizers(source) and others and isinstance(call.func, ast.Attribute):
            also = tuple(n for s in steps(source, others[0]) for n in lines(source.statement(s)))
            yield Change((source.put(call.func.value, others[0]),), (*lines(statement), *also))


@operator("backward-twice", "order", "GS402")
def backward_twice(source: Source) -> Iterator[Change]:
    """`backward()` is called twice on one loss."""
    for statement, call in expressions(source, method(source, "backward")):
        if not owner(call):
            continue  # computed anew, the gradient would only be twice as large: a matter of the learning rate
        yield Change((source.after(statement, f"; {source.text(statement)}"),), lines(statement))


@operator("backward-other-loss", "order", "GS402 GS404 GS401 GS304")
def backward_other_loss(source: Source) -> Iterator[Change]:
    """Another loss is sent backward than the one that is meant."""
    mine = [(s, c) for s, c in expressions(source, method(source, "backward")) if owner(c)]
    for statement, call in mine:
        others = [owner(c) for _, c in mine if owner(c) != owner(call) and c.lineno < call.lineno]
        if others and isinstance(call.func, ast.Attribute):
            after = tuple(
                n for s in steps(source) for n in lines(source.statement(s)) if n > statement.lineno
            )
            yield Change((source.put(call.func.value, others[-1]),), (*lines(statement), *after[:1]))


@operator("retain-graph", "order", "GS406 GS305 GS402")
def retain_graph(source: Source) -> Iterator[Change]:
    """`retain_graph=True` out of habit: nothing else uses the graph."""
    for call in method(source, "backward"):
        if not call.args and not call.keywords:
            end = source.span(call)[1] - 1
            yield Change(((end, end, "retain_graph=True"),), lines(source.statement(call)))


@operator("clip-before-backward", "order", "GS504", guard=True)
def clip_before_backward(source: Source) -> Iterator[Change]:
    """Gradients are clipped before they are made."""
    yield from swaps(source, method(source, "backward"), clips(source))


@operator("clip-after-step", "order", "GS504", guard=True)
def clip_after_step(source: Source) -> Iterator[Change]:
    """Gradients are clipped after they were consumed."""
    yield from swaps(source, clips(source), steps(source))
