"""Changes that make a difference which no tool could call wrong: listed with the reason, never made into cases."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradsan_benchmark.edits import Change, Source
from gradsan_benchmark.operators.base import operator
from gradsan_benchmark.operators.meaning import loss_lines
from gradsan_benchmark.operators.order import clips, expressions
from gradsan_benchmark.operators.sync import hard_syncs, target_uses
from gradsan_benchmark.syntax import called, copies, dotted, forwards, lines, method, owner


@operator(
    "drop-clip", "excluded", "", "Whether gradients are clipped is a setting; many right programs do not."
)
def drop_clip(source: Source) -> Iterator[Change]:
    """The gradient is not clipped."""
    for statement, _ in expressions(source, clips(source)):
        yield Change((source.put(statement, "pass"),), lines(statement))


@operator("mean-to-sum", "excluded", "", "Scales the loss; the learning rate makes up for it.")
def mean_to_sum(source: Source) -> Iterator[Change]:
    """`sum()` in place of `mean()` over the batch."""
    for call in method(source, "mean"):
        if not call.args and not call.keywords:
            end = source.span(call.func)[1]
            yield Change(((end - 4, end, "sum"),), lines(source.statement(call)))


@operator(
    "online-for-target", "excluded", "", "Bootstrapping without a target network is an algorithm of its own."
)
def online_for_target(source: Source) -> Iterator[Change]:
    """The online network is asked for the next value, without gradient."""
    online = {copy: original for copy, original, _ in copies(source)}
    for call in forwards(source, live=False):
        if dotted(call.func) in online:
            yield Change((source.put(call.func, online[dotted(call.func)]),), lines(source.statement(call)))


@operator("drop-entropy-bonus", "excluded", "", "A bonus of zero is a setting.")
def drop_entropy_bonus(source: Source) -> Iterator[Change]:
    """The entropy bonus is forgotten."""
    for node in source.nodes:
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Sub)
            and "entropy" in source.text(node.right)
        ):
            yield Change((source.tail(node.left, node),), lines(source.statement(node)))


@operator(
    "drop-epsilon", "excluded", "", "Changes the last digits, and matters only where the value is zero."
)
def drop_epsilon(source: Source) -> Iterator[Change]:
    """`+ 1e-8` is forgotten in a denominator or a logarithm."""
    for node in source.nodes:
        if (
            (
                isinstance(node, ast.BinOp)
                and isinstance(node.op, ast.Add)
                and isinstance(node.right, ast.Constant)
            )
            and isinstance(node.right.value, float)
            and 0 < node.right.value < 1e-4
        ):
            yield Change((source.tail(node.left, node),), lines(source.statement(node)))


@operator("drop-zeros-like", "excluded", "", "Summing into the first summand is a legal way to sum.")
def alias_buffer(source: Source) -> Iterator[Change]:
    """A buffer is filled through another's memory: `torch.zeros_like(x)` becomes `x`."""
    for call in source.calls:
        fresh = dotted(call.func) in {"torch.zeros_like", "np.zeros_like"} and len(call.args) == 1
        if fresh and isinstance(source.parents[call], ast.Assign):
            text = source.text(call.args[0])
            yield Change((source.put(call, text),), lines(source.statement(call)))


@operator(
    "drop-sync",
    "excluded",
    "",
    "Hard syncs every 1,000 to 10,000 updates are usual: some hundred updates without one are right.",
)
def drop_sync(source: Source) -> Iterator[Change]:
    """The target is never synced."""
    for call, _ in hard_syncs(source):
        statement = source.statement(call)
        first = any(made == owner(call) for made, _, _ in copies(source))
        if first and isinstance(statement, ast.Expr):
            also = target_uses(source, owner(call))
            yield Change((source.put(statement, "pass"),), (*lines(statement), *also))


@operator(
    "reset-running-return",
    "excluded",
    "",
    "It is λ = 0 (an advantage of one step) or γ = 0 (rewards that need no future), which are settings.",
)
def reset_running_return(source: Source) -> Iterator[Change]:
    """Rewards are discounted but not summed: the running return is not carried on."""
    for statement in source.simple:
        looped = any(
            called(a.iter) == "reversed" for a in source.ancestors(statement) if isinstance(a, ast.For)
        )
        if isinstance(statement, ast.Assign) and looped and isinstance(statement.value, ast.BinOp):
            name = dotted(statement.targets[0])
            value = statement.value
            if isinstance(value.op, ast.Add) and name and name in {dotted(n) for n in ast.walk(value.right)}:
                yield Change((source.tail(value.left, value),), loss_lines(source, statement))
