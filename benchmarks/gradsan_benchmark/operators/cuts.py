"""A gradient that should be there is not: its path is cut on one line."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradsan_benchmark.edits import Change, Source
from gradsan_benchmark.operators.base import operator
from gradsan_benchmark.syntax import (
    assigned,
    called,
    copies,
    dotted,
    forwards,
    frozen_copies,
    frozen_networks,
    lines,
    method,
    says_constants,
    scope,
    taken_out,
    without_gradient,
)

CUT = "GS201 GS202 GS203 GS208 GS209 GS404"
SCORES = {"log_prob", "entropy"}
LIMITS = {"clamp", "clip", "clamp_min", "clamp_max"}
MODULES = {"torch", "nn", "F", "np", "self", "math"}


def is_next_value(source: Source, call: ast.Call) -> bool:
    """`r + 0.9 * v(s2) - v(s)`: of two answers of one network in a statement, the discounted one may be a constant;
    then it is the usual algorithm, and not the residual gradient."""
    above = source.parents[call]
    scaled = isinstance(above, ast.BinOp) and isinstance(above.op, ast.Mult) and above.right is call
    others = [n for n in ast.walk(source.statement(call)) if isinstance(n, ast.Call) and n is not call]
    return scaled and any(dotted(n.func) == dotted(call.func) != "" for n in others)


def values(source: Source) -> Iterator[ast.Call]:
    """Outputs of networks, and log-probabilities and entropies, where gradients are on."""
    yield from (call for call in forwards(source) if not is_next_value(source, call))
    for call in method(source, *SCORES):
        if not without_gradient(source, call):
            yield call


def fed(parent: ast.AST) -> bool:
    """Whether it is given to a network or a helper: features that one loss does not train are a legal design."""
    return isinstance(parent, ast.Call) and dotted(parent.func).split(".")[0] not in MODULES - {"self"}


def clamped(source: Source, name: ast.Name) -> bool:
    """`ratio.clamp(0.8, 1.2)`, or its name in the minimum: beyond the limits nothing flows anyway, and within them the
    other side of the minimum has the same value. A constant there is as good."""
    parent = source.parents[name]
    if isinstance(parent, ast.Attribute):
        return parent.attr in LIMITS
    if isinstance(parent, ast.Call) and called(parent) in {"min", "minimum"} and len(parent.args) == 2:
        inside = scope(source, name)
        bound = [s for s in ast.walk(inside) if isinstance(s, ast.Assign) and name.id in assigned(s)]
        return any(called(n) in LIMITS for s in bound for n in ast.walk(s.value))
    return isinstance(parent, ast.Call) and called(parent) in LIMITS and name in parent.args[:1]


def operands(source: Source) -> Iterator[ast.Name]:
    """Names that are read where something called a loss is made."""
    for statement in source.simple:
        if not isinstance(statement, ast.Assign) or without_gradient(source, statement):
            continue
        if not any("loss" in dotted(target).lower() for target in statement.targets):
            continue
        called_names = {call.func for call in ast.walk(statement.value) if isinstance(call, ast.Call)}
        for node in ast.walk(statement.value):
            inside = isinstance(source.parents[node], ast.Attribute | ast.Call | ast.BinOp)
            owned = (
                isinstance(source.parents[node], ast.Attribute) and source.parents[node] not in called_names
            )
            value = inside and not owned and node not in called_names and not fed(source.parents[node])
            if isinstance(node, ast.Name) and value and node.id not in MODULES:
                yield node


def live_operands(source: Source) -> Iterator[ast.Name]:
    """Those that a gradient has to flow through."""
    yield from (name for name in operands(source) if not clamped(source, name))


@operator(
    "add-detach",
    "cut",
    CUT,
    leaves="the next value beside the value of the same network: the usual algorithm takes it as a constant",
)
def add_detach(source: Source) -> Iterator[Change]:
    """`.detach()` is put on a prediction, a log-probability or an entropy that has to be differentiated."""
    for call in values(source):
        yield Change((source.after(call, ".detach()"),), lines(source.statement(call)))


@operator(
    "add-detach-in-loss",
    "cut",
    CUT,
    leaves="what is clamped, and what is fed to a network: a constant is as good there",
)
def add_detach_in_loss(source: Source) -> Iterator[Change]:
    """`.detach()` is put on an operand of the loss."""
    for name in live_operands(source):
        yield Change((source.after(name, ".detach()"),), lines(source.statement(name)))


@operator("add-no-grad", "cut", CUT)
def add_no_grad(source: Source) -> Iterator[Change]:
    """A forward pass that the loss needs runs under `torch.no_grad()`."""
    for call in forwards(source):
        statement = source.statement(call)
        if isinstance(statement, ast.Assign) and statement.lineno == statement.end_lineno:
            start = source.span(statement)[0]
            yield Change(((start, start, "with torch.no_grad(): "),), lines(statement))


@operator(
    "read-data",
    "cut",
    CUT,
    leaves="the next value beside the value of the same network: the usual algorithm takes it as a constant",
)
def read_data(source: Source) -> Iterator[Change]:
    """`.data` is read where the tensor itself has to be used."""
    for call in values(source):
        yield Change((source.after(call, ".data"),), lines(source.statement(call)))


@operator("numpy-round-trip", "cut", CUT)
def numpy_round_trip(source: Source) -> Iterator[Change]:
    """An operand of the loss takes the way through NumPy."""
    for name in live_operands(source):
        text = f"torch.as_tensor({name.id}.detach().numpy())"
        yield Change((source.put(name, text),), lines(source.statement(name)))


@operator("list-round-trip", "cut", CUT)
def list_round_trip(source: Source) -> Iterator[Change]:
    """An operand of the loss is made anew from Python numbers: `torch.tensor(x.tolist())`."""
    for name in live_operands(source):
        text = f"torch.tensor({name.id}.tolist())"
        yield Change((source.put(name, text),), lines(source.statement(name)))


@operator("stack-to-tensor", "cut", CUT)
def stack_to_tensor(source: Source) -> Iterator[Change]:
    """`torch.tensor(list_of_tensors)` where `torch.stack` or `torch.cat` is meant."""
    for call in source.calls:
        named = dotted(call.func) in {"torch.stack", "torch.cat"}
        if named and len(call.args) == 1 and not call.keywords and not without_gradient(source, call):
            yield Change((source.put(call.func, "torch.tensor"),), lines(source.statement(call)))


@operator("item-in-loss", "cut", CUT)
def item_in_loss(source: Source) -> Iterator[Change]:
    """A part of the loss is turned into a number: `actor_loss.item() + critic_loss`."""
    for name in live_operands(source):
        if "loss" in name.id.lower() or "entropy" in name.id.lower():
            yield Change((source.after(name, ".item()"),), lines(source.statement(name)))


@operator("rsample-to-sample", "cut", CUT)
def rsample_to_sample(source: Source) -> Iterator[Change]:
    """`sample()` where `rsample()` is meant: the action no longer depends on the policy."""
    for call in method(source, "rsample"):
        assert isinstance(call.func, ast.Attribute)
        end = source.span(call.func)[1]
        yield Change(((end - len("rsample"), end, "sample"),), lines(source.statement(call)))


@operator(
    "round-value",
    "cut",
    CUT,
    leaves="what is detached, what copies and frozen networks say, and what lambdas and functions only hand on, of "
    "which nobody knows: a constant may be rounded",
)
def round_value(source: Source) -> Iterator[Change]:
    """A prediction is rounded on its way to the loss."""
    followers = {copy for copy, _, _ in copies(source)} | frozen_copies(source) | frozen_networks(source)
    for call in forwards(source):
        # What is taken out of the graph may be rounded as well as not; of what is only handed on nobody knows.
        handed_on = isinstance(source.parents[call], ast.Return | ast.Lambda)
        inside = any(isinstance(a, ast.Lambda) for a in source.ancestors(call))
        constant = taken_out(source, call) or dotted(call.func) in followers or says_constants(source, call)
        if constant or handed_on or inside:
            continue
        yield Change((source.after(call, ".round()"),), lines(source.statement(call)))


def is_of_loss(source: Source, node: ast.AST) -> bool:
    """Not what is kept under the name of a variance or a deviation."""
    names = [name.lower() for name in assigned(source.statement(node))]
    return not any(name.startswith(("var", "std")) for name in names)


@operator(
    "clamp-error",
    "cut",
    "GS208 GS202",
    leaves="variances, and what has no graph: nothing is learnt from it in any case",
)
def clamp_error(source: Source) -> Iterator[Change]:
    """The error is clamped before it is squared: beyond the limit nothing is learnt."""
    for call in method(source, "pow", "square"):
        assert isinstance(call.func, ast.Attribute)
        inner = call.func.value
        # What is squared for a variance, or without a graph, teaches nothing in any case.
        if without_gradient(source, call) or not is_of_loss(source, call):
            continue
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub):
            text = f"({source.text(inner)}).clamp(-0.1, 0.1)"
            bracket = source.span(inner)[0] - 1
            yield Change(((bracket, source.span(call.func)[1] - len(call.func.attr) - 1, text),),
                         lines(source.statement(call)))  # fmt: skip


@operator("argmax-for-softmax", "cut", "GS203 GS202 GS201 GS404")
def argmax_for_softmax(source: Source) -> Iterator[Change]:
    """A hard choice where a soft one is differentiated: one-hot of the argmax in place of the softmax."""
    for call in source.calls:
        if called(call) == "gumbel_softmax" and call.args:
            given = source.text(call.args[0])
            text = f"torch.nn.functional.one_hot({given}.argmax(-1), {given}.shape[-1]).float()"
            yield Change((source.put(call, text),), lines(source.statement(call)))
