"""A value that backward needs is overwritten; or a copy that kept it safe is gone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradsan_benchmark.edits import Change, Source
from gradsan_benchmark.operators.base import operator
from gradsan_benchmark.operators.leaks import statement_and_uses
from gradsan_benchmark.syntax import (
    called,
    dotted,
    lines,
    method,
    optimizers,
    owner,
    scope,
    steps,
    without_gradient,
)

MUTATED = "GS101 GS103 GS104"
METHODS = (
    "exp log tanh relu clamp clip sigmoid mul add sub div masked_fill abs neg pow sqrt squeeze clamp_min"
)


def kept_in_place(source: Source) -> set[str]:
    """What the program itself changes in place, a running mean say: `mean.lerp_(x, 0.1)`."""
    changed = [c for c in source.calls if called(c).endswith("_") and isinstance(c.func, ast.Attribute)]
    return {dotted(c.func.value) for c in changed if isinstance(c.func, ast.Attribute)} - {""}


@operator(
    "in-place-method",
    "mutation",
    MUTATED,
    leaves="what the program itself changes in place: it has no graph, and one change more may be meant",
)
def in_place_method(source: Source) -> Iterator[Change]:
    """`x.exp_()` where `x.exp()` is meant."""
    buffers = kept_in_place(source)
    for call in method(source, *METHODS.split()):
        if dotted(call.func).startswith(("torch.", "F.", "nn.", "np.")) or without_gradient(source, call):
            continue
        if isinstance(call.func, ast.Attribute) and dotted(call.func.value) in buffers:
            continue
        yield Change((source.after(call.func, "_"),), lines(source.statement(call)))


@operator("in-place-function", "mutation", MUTATED)
def in_place_function(source: Source) -> Iterator[Change]:
    """`torch.tanh_(x)` or `F.relu_(x)` where the form that leaves x alone is meant."""
    named = {f"{room}.{name}" for room in ("torch", "F", "nn.functional") for name in ("relu", "tanh", "exp")}
    named |= {"torch.sigmoid", "F.elu", "nn.functional.elu", "torch.clamp"}
    for call in source.calls:
        if dotted(call.func) in named and not without_gradient(source, call):
            yield Change((source.after(call.func, "_"),), lines(source.statement(call)))


@operator("in-place-layer", "mutation", MUTATED)
def in_place_layer(source: Source) -> Iterator[Change]:
    """`nn.ReLU(inplace=True)`, or the like, behind a layer whose output is needed."""
    for call in source.calls:
        if dotted(call.func) in {"nn.ReLU", "nn.ELU", "nn.LeakyReLU", "nn.SiLU"} and not call.keywords:
            end = source.span(call)[1] - 1
            text = ", inplace=True" if call.args else "inplace=True"
            yield Change(((end, end, text),), lines(source.statement(call)))


@operator("in-place-assignment", "mutation", MUTATED)
def in_place_assignment(source: Source) -> Iterator[Change]:
    """`x += y` where `x = x + y` is meant."""
    signs = {ast.Add: "+=", ast.Sub: "-=", ast.Mult: "*=", ast.Div: "/="}
    for statement in source.simple:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.BinOp):
            continue
        target, value = statement.targets[0], statement.value
        same = dotted(target) and dotted(target) == dotted(value.left)
        if same and type(value.op) in signs and not without_gradient(source, statement):
            text = f"{dotted(target)} {signs[type(value.op)]} {source.text(value.right)}"
            yield Change((source.put(statement, text),), lines(statement))


@operator(
    "drop-clone",
    "mutation",
    MUTATED + " GS306 GS808 GS803 GS304 GS401 GS202",
    leaves="methods of that name which the program itself defines",
)
def drop_clone(source: Source) -> Iterator[Change]:
    """`.clone()` or `.copy()` is forgotten: two names for one piece of memory."""
    own = {n.name for n in source.nodes if isinstance(n, ast.FunctionDef)}
    for call in method(source, "clone", "copy"):
        assert isinstance(call.func, ast.Attribute)
        if not call.args and call.func.attr not in own:
            where = (*statement_and_uses(source, call), *inference_lines(source))
            yield Change((source.tail(call.func.value, call),), where)


def inference_lines(source: Source) -> list[int]:
    """What was made in inference mode has to be cloned before it is learned from; `no_grad` does as well."""
    named = [n for n in source.nodes if isinstance(n, ast.Attribute) and n.attr == "inference_mode"]
    return [n.lineno for n in named]


def stepped_next(source: Source, call: ast.Call) -> str:
    """The network of the optimizer that steps next in the same function; another's weights may well be scaled then."""
    inside = scope(source, call)
    later = [c for c in steps(source) if c.lineno > call.lineno and scope(source, c) is inside]
    made = optimizers(source).get(owner(min(later, key=lambda c: c.lineno))) if later else None
    given = made.args[0] if made is not None and made.args else None
    return owner(given) if given is not None and called(given) == "parameters" else ""


@operator(
    "decay-weights-live",
    "mutation",
    "GS103 GS102 GS101 GS104",
    leaves="networks that are not stepped next: their weights may well be scaled then; and temperatures: their loss is "
    "linear in them, so that the change is a decay and nothing else; so it is under autocast, which keeps copies",
)
def decay_weights_live(source: Source) -> Iterator[Change]:
    """Weights are scaled through `.data` between the loss and its backward."""
    cast = any(called(call) == "autocast" for call in source.calls)
    for call in () if cast else method(source, "backward"):
        statement, name = source.statement(call), stepped_next(source, call)
        # The loss is there already: `net(x).mean().backward()` would compute it from the new weights.
        lone = any(word in name.lower() for word in ("alpha", "temperature", "multiplier"))
        if name and not lone and owner(call) and isinstance(statement, ast.Expr):
            start = source.span(statement)[0]
            text = f"[p.data.mul_(0.9) for p in {name}.parameters()]; "
            yield Change(((start, start, text),), lines(statement))
