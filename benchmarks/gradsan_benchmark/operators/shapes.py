"""Axes that meet by accident, are kept, dropped or confused."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradsan_benchmark.edits import Change, Source
from gradsan_benchmark.operators.base import operator
from gradsan_benchmark.operators.cuts import operands
from gradsan_benchmark.operators.leaks import names_of, statement_and_uses
from gradsan_benchmark.syntax import assigned, called, dotted, lines, method, scope, uses

BROADCAST = "GS601 GS603 GS604"


def along_the_way(source: Source, node: ast.AST) -> tuple[int, ...]:
    """An axis goes along with what is made of the value: it may be dropped, or be missing, one step later as well."""
    first = statement_and_uses(source, node)
    inside = scope(source, node)
    made = [s for s in ast.walk(inside) if isinstance(s, ast.Assign) and s.lineno in first]
    return (*first, *(line for s in made for line in statement_and_uses(source, s.value)))


def drop_call(source: Source, call: ast.Call, codes_lines: bool = True) -> Change:
    assert isinstance(call.func, ast.Attribute)
    where = along_the_way(source, call) if codes_lines else lines(source.statement(call))
    return Change((source.tail(call.func.value, call),), where)


@operator("drop-squeeze", "shape", BROADCAST)
def drop_squeeze(source: Source) -> Iterator[Change]:
    """`.squeeze(-1)` is forgotten: `[B, 1]` meets `[B]`."""
    for call in method(source, "squeeze"):
        yield drop_call(source, call)


@operator("drop-unsqueeze", "shape", BROADCAST)
def drop_unsqueeze(source: Source) -> Iterator[Change]:
    """`.unsqueeze(…)` is forgotten."""
    for call in method(source, "unsqueeze"):
        yield drop_call(source, call)


@operator("drop-none-index", "shape", BROADCAST)
def drop_none_index(source: Source) -> Iterator[Change]:
    """`x[:, None]` becomes `x`."""
    for node in source.nodes:
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
            parts = node.slice.elts
            added = [p for p in parts if isinstance(p, ast.Constant) and p.value is None]
            if added and all(isinstance(p, ast.Slice) or p in added for p in parts):
                yield Change((source.tail(node.value, node),), along_the_way(source, node))


@operator("add-unsqueeze", "shape", BROADCAST)
def add_unsqueeze(source: Source) -> Iterator[Change]:
    """An operand of the loss gets an axis too many: `target.unsqueeze(-1)`."""
    for name in operands(source):
        yield Change((source.after(name, ".unsqueeze(-1)"),), lines(source.statement(name)))


@operator("add-squeeze", "shape", BROADCAST)
def add_squeeze(source: Source) -> Iterator[Change]:
    """An operand of the loss loses an axis: `target.squeeze(-1)`."""
    for name in operands(source):
        yield Change((source.after(name, ".squeeze(-1)"),), lines(source.statement(name)))


@operator("drop-keepdim", "shape", BROADCAST)
def drop_keepdim(source: Source) -> Iterator[Change]:
    """`keepdim=True` is forgotten."""
    for call in source.calls:
        for keyword in call.keywords:
            if keyword.arg == "keepdim" and getattr(keyword.value, "value", None) is True:
                yield Change((source.put(keyword.value, "False"),), along_the_way(source, call))


@operator("add-keepdim", "shape", BROADCAST)
def add_keepdim(source: Source) -> Iterator[Change]:
    """`keepdim=True` where the axis has to go: `[B, 1]` meets `[B]`."""
    for call in method(source, "sum", "mean", "max", "min", "logsumexp"):
        if len(call.args) == 1 and not call.keywords and _is_number(call.args[0]):
            end = source.span(call)[1] - 1
            yield Change(((end, end, ", keepdim=True"),), along_the_way(source, call))


def _is_number(node: ast.AST) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant) and isinstance(inner.value, int)


@operator(
    "drop-action-sum",
    "shape",
    "GS603 GS601",
    leaves="entropies and weighed columns that are averaged next: a mean over the dimensions, too, is another "
    "coefficient, a setting",
)
def drop_action_sum(source: Source) -> Iterator[Change]:
    """The log-probabilities of an action's dimensions are not summed."""
    for call in method(source, "sum"):
        above = source.parents[call]
        averaged = isinstance(above, ast.Attribute) and above.attr == "mean"
        if averaged and isinstance(call.func, ast.Attribute) and called(call.func.value) == "entropy":
            continue
        if _stays_a_column(call) and _is_averaged(source, call):
            continue
        if len(call.args) == 1 and isinstance(call.func, ast.Attribute) and _scores(call.func.value):
            change = drop_call(source, call)
            yield Change(change.splices, (*change.lines, *_bound_before(source, call)))


def _bound_before(source: Source, call: ast.Call) -> tuple[int, ...]:
    """Where what is summed got its name last: it may be summed there, too."""
    assert isinstance(call.func, ast.Attribute)
    name, statement = dotted(call.func.value), source.statement(call)
    inside = [n for n in ast.walk(scope(source, statement)) if isinstance(n, ast.Assign | ast.AugAssign)]
    before = [s for s in inside if s.lineno < statement.lineno and name and name in assigned(s)]
    return lines(max(before, key=lambda s: s.lineno)) if before else ()


def _stays_a_column(call: ast.Call) -> bool:
    return any(keyword.arg == "keepdim" for keyword in call.keywords)


def _is_averaged(source: Source, call: ast.Call) -> bool:
    """`(weight * x).mean()`: nothing but weights and signs comes between."""
    above = source.parents[call]
    while isinstance(above, ast.UnaryOp) or (isinstance(above, ast.BinOp) and isinstance(above.op, ast.Mult)):
        above = source.parents[above]
    return isinstance(above, ast.Attribute) and above.attr == "mean"


def _callers_average(source: Source, call: ast.Call) -> bool:
    """Where it is all that a function returns, and everybody takes the mean of that at once."""
    if not isinstance(source.parents[call], ast.Return):
        return False
    own = scope(source, call)
    asked = [c for c in source.calls if called(c) in names_of(source, own) and scope(source, c) is not own]
    return bool(asked) and all(_is_averaged(source, c) for c in asked)


@operator(
    "sum-over-batch",
    "shape",
    "GS603 GS604 GS601",
    leaves="what is averaged next: the loss is the same but for its scale",
)
def sum_over_batch(source: Source) -> Iterator[Change]:
    """The log-probabilities are summed over the batch, too: `.sum()` in place of `.sum(-1)`."""
    for call in method(source, "sum"):
        if _is_averaged(source, call) or _callers_average(source, call):
            continue
        if len(call.args) == 1 and isinstance(call.func, ast.Attribute) and _is_log_prob(call.func.value):
            yield Change((source.put(call.args[0], ""),), along_the_way(source, call))


def _is_log_prob(node: ast.AST) -> bool:
    return called(node) == "log_prob" or "log_prob" in dotted(node)


def _scores(node: ast.AST) -> bool:
    return called(node) in {"log_prob", "entropy"} or "log_prob" in dotted(node)


@operator(
    "wrong-axis", "shape", "GS604 GS603 GS601 GS807", leaves="what is made up at random: any axis is as good"
)
def wrong_axis(source: Source) -> Iterator[Change]:
    """A softmax or a maximum runs over the batch: axis 0 in place of the last."""
    for call in source.calls:
        if called(call) not in {"softmax", "log_softmax", "Softmax", "argmax", "max", "logsumexp"}:
            continue
        given = [k.value for k in call.keywords if k.arg in ("dim", "axis")] + list(call.args[-1:])
        # Of what is made up at random any axis is as good.
        made_up = isinstance(call.func, ast.Attribute) and called(call.func.value) in {"rand", "randn"}
        if given and not made_up and _is_number(given[0]) and source.text(given[0]) not in ("0", "0.0"):
            yield Change((source.put(given[0], "0"),), along_the_way(source, call))


@operator("loss-not-reduced", "shape", "GS403")
def loss_not_reduced(source: Source) -> Iterator[Change]:
    """The loss is not averaged: `backward()` gets a vector."""
    for statement in source.simple:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            call = statement.value
            named = "loss" in dotted(statement.targets[0]).lower()
            reduced = (
                called(call) in {"mean", "sum"} and not call.args and isinstance(call.func, ast.Attribute)
            )
            if named and reduced and dotted(call.func.value) not in ("torch", "np"):  # type: ignore[attr-defined]
                back = tuple(n for c in method(source, "backward") for n in lines(source.statement(c)))
                change = source.tail(call.func.value, call)  # type: ignore[attr-defined]
                yield Change((change,), (*lines(statement), *uses(source, statement), *back))


@operator(
    "index-for-gather",
    "shape",
    "GS601 GS604",
    leaves="whole rows that are gathered by an index laid out over their columns: no short index does that",
)
def index_for_gather(source: Source) -> Iterator[Change]:
    """`q[:, action]` in place of `gather`: every action of the batch for every row."""
    for call in method(source, "gather"):
        spread = any(called(n) in {"expand", "expand_as", "repeat"} for n in ast.walk(call))
        if len(call.args) == 2 and isinstance(call.func, ast.Attribute) and not spread:
            text = f"{source.text(call.func.value)}[:, {source.text(call.args[1])}.flatten()]"
            yield Change((source.put(call, text),), along_the_way(source, call))


@operator("softmax-as-logits", "shape", "GS602")
def softmax_as_logits(source: Source) -> Iterator[Change]:
    """Probabilities are passed as logits: softmax is applied twice."""
    for call in source.calls:
        for keyword in call.keywords:
            if keyword.arg == "logits":
                text = f"torch.softmax({source.text(keyword.value)}, -1)"
                yield Change((source.put(keyword.value, text),), along_the_way(source, call))
