"""The gradient is right, the loss is not: signs, masks, directions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradsan_benchmark.edits import Change, Source
from gradsan_benchmark.operators.base import operator
from gradsan_benchmark.operators.leaks import statement_and_uses
from gradsan_benchmark.syntax import (
    are_flags,
    bootstraps,
    called,
    dotted,
    has_environment,
    lines,
    makes_its_own_environment,
    method,
    names_environment,
    uses,
    without_gradient,
)

POLICY = ("actor", "policy", "pi_", "pg", "surrogate")
ALIVE = ("not_done", "alive", "nonterminal", "non_terminal", "continues", "not_terminal")


def losses(source: Source, *words: str) -> Iterator[ast.Assign]:
    """Assignments to a name with one of these words that holds a loss."""
    for statement in source.simple:
        if isinstance(statement, ast.Assign):
            name = dotted(statement.targets[0]).lower()
            if any(word in name for word in words):
                yield statement


def loss_lines(source: Source, statement: ast.stmt) -> tuple[int, ...]:
    """The sign is wrong where it is written, and where the loss is put together or sent backward."""
    return (*lines(statement), *uses(source, statement))


def weighed_lines(source: Source, negated: ast.expr) -> tuple[int, ...]:
    """`loss = -weighed.mean()`: the minus may as well stand where `weighed` was made."""
    inner = negated
    while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and not inner.args:
        inner = inner.func.value
    name = inner.id if isinstance(inner, ast.Name) else ""
    made = [
        s for s in source.simple
        if isinstance(s, ast.Assign) and s.lineno < negated.lineno and dotted(s.targets[0]) == name != ""
    ]  # fmt: skip
    return lines(made[-1]) if made else ()


def is_told_apart(source: Source, term: ast.AST) -> bool:
    """Whether reward and cost can be told apart: a library's environment says which it is, or a pessimistic bound
    does, or a critic that bootstraps. What is weighed with numbers of its own, or with what a class of the script's own
    returns, is right with either sign, and so is an actor whose critic is fitted to such numbers alone:
    clean/costs_instead_of_rewards is the mutant of a program that maximises, and no bug."""
    bounded = any(called(n) in {"min", "minimum", "clamp", "clip"} for n in ast.walk(term))
    said = names_environment(source) and not makes_its_own_environment(source)
    return bounded or said or bootstraps(source)


@operator(
    "flip-policy-sign",
    "meaning",
    "GS801 GS802",
    leaves="weights and values that come from no environment of a library, have no bound and are not bootstrapped: "
    "costs and rewards look the same",
)
def flip_policy_sign(source: Source) -> Iterator[Change]:
    """The minus in front of the policy's loss is forgotten: what was rewarded becomes less likely."""
    for statement in losses(source, *POLICY, "loss"):
        for node in ast.walk(statement.value):
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
                scored = any(called(n) in {"log_prob", "min", "minimum"} or "log_prob" in dotted(n)
                             or "ratio" in dotted(n) for n in ast.walk(node.operand))  # fmt: skip
                if not is_told_apart(source, node.operand):
                    continue
                if scored or any(word in dotted(statement.targets[0]).lower() for word in POLICY):
                    start, end = source.span(node)[0], source.span(node.operand)[0]
                    kept = source.raw[start + 1 : end].decode()
                    also = weighed_lines(source, node.operand)
                    yield Change(((start, end, kept),), (*loss_lines(source, statement), *also))
                    break


@operator("flip-entropy-sign", "meaning", "GS802", leaves="targets of an entropy: their sign is a setting")
def flip_entropy_sign(source: Source) -> Iterator[Change]:
    """The entropy bonus is added to the loss: the policy is made to collapse."""
    for node in source.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            right = [
                n for n in ast.walk(node.right) if called(n) == "entropy" or "entrop" in dotted(n).lower()
            ]
            # The target of an entropy is a setting, and negative for many actions.
            if right and not any("target" in dotted(n).lower() for n in right):
                start, end = source.span(node.left)[1], source.span(node.right)[0]
                sign = source.raw[start:end].decode().replace("-", "+", 1)
                statement = source.statement(node)
                yield Change(((start, end, sign),), loss_lines(source, statement))


@operator("flip-temperature-sign", "meaning", "GS802")
def flip_temperature_sign(source: Source) -> Iterator[Change]:
    """The temperature's loss has the wrong sign: it moves away from its target."""
    for statement in losses(source, "alpha_loss", "temperature_loss", "ent_coef_loss"):
        start = source.span(statement.value)[0]
        end = source.span(statement.value)[1]
        yield Change(((start, start, "-("), (end, end, ")")), loss_lines(source, statement))


@operator("minus-into-minimum", "meaning", "GS801")
def minus_into_minimum(source: Source) -> Iterator[Change]:
    """`min(-r·A, -clip·A)`: the minus is drawn into the minimum, which then bounds the wrong side."""
    for node in source.nodes:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = node.operand
            while (
                isinstance(inner, ast.Call)
                and called(inner) == "mean"
                and isinstance(inner.func, ast.Attribute)
            ):
                inner = inner.func.value
            bounded = any(word in source.text(node) for word in ("ratio", "clamp", "clip", "surr"))
            twofold = (
                isinstance(inner, ast.Call) and called(inner) in {"min", "minimum"} and len(inner.args) == 2
            )
            if bounded and twofold and isinstance(inner, ast.Call):
                start = source.span(node)[0]
                inside = (source.put(argument, f"-({source.text(argument)})") for argument in inner.args)
                yield Change(((start, start + 1, ""), *inside), loss_lines(source, source.statement(node)))


RECURRENT = {"GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNCell"}


def is_of_a_memory(source: Source, flags: ast.AST) -> bool:
    """Whether the mask of a recurrent program, wide enough for units, is multiplied into something that is no sum."""
    statement = source.statement(flags)
    adds = any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Add) for n in ast.walk(statement))
    recurrent = any(called(call) in RECURRENT for call in source.calls)
    product = source.parents[flags]
    wide = any(word in source.text(flags) for word in ("unsqueeze", "None]"))
    return recurrent and wide and not adds and isinstance(product, ast.BinOp)


@operator(
    "drop-end-mask",
    "meaning",
    "GS805 GS806",
    guard=True,
    leaves="memories of recurrent networks: whether they outlive an episode is a choice",
)
def drop_end_mask(source: Source) -> Iterator[Change]:
    """The mask of ended episodes is forgotten in a target or a return."""
    for node in source.nodes:
        ended = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and _is_one(node.left)
        if ended and is_of_a_memory(source, node):
            continue
        if ended and any(w in source.text(node.right) for w in ("done", "end", "term")):  # type: ignore[attr-defined]
            yield Change((source.put(node, "1.0"),), statement_and_uses(source, node))
        alive = isinstance(node, ast.Name) and any(word in node.id for word in ALIVE)
        if alive and isinstance(source.parents[node], ast.BinOp):
            yield Change((source.put(node, "1.0"),), statement_and_uses(source, node))


def _is_one(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in (1, 1.0)


@operator(
    "drop-loss-mask",
    "meaning",
    "GS605 GS805 GS806 GS407 GS604",
    leaves="statistics that are taken without a graph, and flags that are counted (a reward, an accuracy)",
)
def drop_loss_mask(source: Source) -> Iterator[Change]:
    """The mask of padding is forgotten in the loss: padded steps are learnt from."""
    for node in source.nodes:
        if without_gradient(source, node):  # of a statistic, not of the loss
            continue
        if isinstance(node, ast.BinOp) and are_flags(source, node.left):
            continue
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and "mask" in dotted(node.right):
            yield Change((source.tail(node.left, node),), statement_and_uses(source, node))


@operator(
    "returns-forward",
    "meaning",
    "GS806",
    leaves="programs without anything to act in: nothing says which way time runs",
)
def returns_forward(source: Source) -> Iterator[Change]:
    """The return is summed from the front: it depends on rewards that came before."""
    for call in source.calls if has_environment(source) else ():
        inner = call.args[0] if call.args else None
        if called(call) == "reversed" and isinstance(inner, ast.Call) and called(inner) == "range":
            loop = source.parents[call]
            body = tuple(n for s in getattr(loop, "body", []) for n in lines(s))
            bound = tuple(n for s in getattr(loop, "body", []) for n in uses(source, s))
            yield Change((source.put(call, source.text(inner)),), (call.lineno, *body, *bound))


@operator("returns-left-reversed", "meaning", "GS806")
def returns_left_reversed(source: Source) -> Iterator[Change]:
    """Returns that were computed from the back are appended, and left in that order."""
    for call in method(source, "insert"):
        if len(call.args) == 2 and getattr(call.args[0], "value", None) == 0:
            assert isinstance(call.func, ast.Attribute)
            text = f"{source.text(call.func.value)}.append({source.text(call.args[1])})"
            yield Change((source.put(call, text),), statement_and_uses(source, call))


@operator("group-of-one", "meaning", "GS807 GS604 GS503 GS208")
def group_of_one(source: Source) -> Iterator[Change]:
    """Advantages are centred along an axis of their own: nothing is left of them."""
    for node in source.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and called(node.right) == "mean":
            call = node.right
            assert isinstance(call, ast.Call)
            named = (
                isinstance(call.func, ast.Attribute) and dotted(call.func.value) == dotted(node.left) != ""
            )
            if named and not call.args and not call.keywords:
                text = f"{dotted(node.left)}.unsqueeze(-1).mean(-1)"
                yield Change((source.put(call, text),), statement_and_uses(source, node))


@operator("mask-with-infinity", "meaning", "GS503 GS208", guard=True)
def mask_with_infinity(source: Source) -> Iterator[Change]:
    """Unavailable actions are masked by minus infinity, which an entropy or a product turns into NaN."""
    for call in method(source, "masked_fill", "masked_fill_"):
        if len(call.args) == 2 and source.text(call.args[1]).startswith("-1e"):
            yield Change((source.put(call.args[1], "float('-inf')"),), statement_and_uses(source, call))
