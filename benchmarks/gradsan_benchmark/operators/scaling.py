"""Clipping and scaling that miss what they are for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradsan_benchmark.edits import Change, Source
from gradsan_benchmark.operators.base import operator
from gradsan_benchmark.operators.order import clips, expressions
from gradsan_benchmark.syntax import called, dotted, lines, method, networks, optimizers, owner


def groups(source: Source) -> set[str]:
    """The networks that are groups of their own in an optimizer: `{"params": net.parameters(), "lr": 1e-3}`."""
    entries = (
        zip(n.keys, n.values, strict=True)
        for made in optimizers(source).values()
        for n in ast.walk(made)
        if isinstance(n, ast.Dict)
    )
    return {owner(v) for pairs in entries for k, v in pairs if getattr(k, "value", "") == "params"}


@operator(
    "clip-other-network",
    "clipping",
    "GS505 GS504",
    guard=True,
    leaves="what is a group of its own in the optimizer: groups may well be clipped one by one",
)
def clip_other_network(source: Source) -> Iterator[Change]:
    """The parameters of another network are clipped than those that are about to be stepped."""
    for call in clips(source):
        given = call.args[0] if call.args else None
        if given is None or called(given) != "parameters" or not isinstance(given, ast.Call):
            continue
        others = sorted(networks(source) - {owner(given)} - groups(source))
        if others and owner(given) and isinstance(given.func, ast.Attribute):
            yield Change((source.put(given.func.value, others[0]),), lines(source.statement(call)))


@operator("clip-part", "clipping", "GS505 GS504", guard=True)
def clip_part(source: Source) -> Iterator[Change]:
    """Only the first parameter tensor is clipped: `next(net.parameters())`."""
    for call in clips(source):
        given = call.args[0] if call.args else None
        if given is not None and called(given) == "parameters":
            yield Change((source.put(given, f"next({source.text(given)})"),), lines(source.statement(call)))


@operator("clip-used-up-iterator", "clipping", "GS505 GS504 GS506", guard=True)
def clip_used_up(source: Source) -> Iterator[Change]:
    """The iterator over the parameters is used up when the clip gets it."""
    for call in clips(source):
        given = call.args[0] if call.args else None
        if given is not None and called(given) == "parameters":
            text = f"(used := {source.text(given)}, list(used), used)[-1]"
            yield Change((source.put(given, text),), lines(source.statement(call)))


@operator("clip-result-dropped", "clipping", "GS506", guard=True)
def clip_result_dropped(source: Source) -> Iterator[Change]:
    """`p.grad.clamp(…)` in place of `p.grad.clamp_(…)`: the result is dropped."""
    for statement, call in expressions(source, method(source, "clamp_", "mul_", "div_")):
        if ".grad" in dotted(call.func):
            end = source.span(call.func)[1]
            yield Change(((end - 1, end, ""),), lines(statement))


@operator("clip-by-rebinding", "clipping", "GS506", guard=True)
def clip_by_rebinding(source: Source) -> Iterator[Change]:
    """The clip is written by hand, and its result bound to a name: no gradient changes."""
    for statement, call in expressions(source, clips(source)):
        if called(call.args[0]) == "parameters" and statement.lineno == statement.end_lineno:
            text = f"clipped = [p.grad.clamp(-0.01, 0.01) for p in {source.text(call.args[0])}]"
            yield Change((source.put(statement, text),), lines(statement))


@operator("clip-unscaled", "scaling", "GS507", guard=True)
def clip_unscaled(source: Source) -> Iterator[Change]:
    """`scaler.unscale_(optimizer)` is forgotten before the clip."""
    clip_lines = tuple(n for c in clips(source) for n in lines(source.statement(c)))
    for statement, _ in expressions(source, method(source, "unscale_")):
        yield Change((source.put(statement, "pass"),), (*lines(statement), *clip_lines))


@operator("step-past-scaler", "scaling", "GS507 GS501")
def step_past_scaler(source: Source) -> Iterator[Change]:
    """`optimizer.step()` in place of `scaler.step(optimizer)`: the scaled gradient is consumed."""
    for call in method(source, "step"):
        if len(call.args) == 1 and "scaler" in owner(call) and dotted(call.args[0]):
            text = f"{source.text(call.args[0])}.step()"
            yield Change((source.put(call, text),), lines(source.statement(call)))


@operator("backward-past-scaler", "scaling", "GS507 GS502 GS508")
def backward_past_scaler(source: Source) -> Iterator[Change]:
    """`loss.backward()` in place of `scaler.scale(loss).backward()`: a gradient is unscaled that never was scaled."""
    for call in method(source, "scale"):
        if len(call.args) == 1 and "scaler" in owner(call):
            yield Change((source.put(call, source.text(call.args[0])),), lines(source.statement(call)))


@operator("mean-per-micro-batch", "scaling", "GS407 GS704")
def mean_per_micro_batch(source: Source) -> Iterator[Change]:
    """Each micro-batch divides by its own count where the whole window's is meant."""
    for node in source.nodes:
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div) or called(node.left) != "sum":
            continue
        statement = source.statement(node)
        looped = any(isinstance(a, ast.For) for a in source.ancestors(node))
        whole = any(word in source.text(node.right) for word in ("total", "window", "all", "count"))
        if looped and whole and isinstance(node.left, ast.Call) and isinstance(node.left.func, ast.Attribute):
            text = f"{source.text(node.left.func.value)}.mean()"
            yield Change((source.put(node, text),), lines(statement))


@operator("halve-weights", "scaling", "GS508")
def halve_weights(source: Source) -> Iterator[Change]:
    """A network and its optimizer work in bfloat16, its input and output are cast: small updates are lost."""
    for statement in source.simple:
        if isinstance(statement, ast.Assign) and called(statement.value) == "Linear":
            yield Change((source.after(statement.value, ".to(torch.bfloat16)"),), lines(statement))
