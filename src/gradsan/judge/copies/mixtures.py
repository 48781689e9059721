"""How much of which parameter a written value consists of: the weights of a soft update."""

from __future__ import annotations

from gradsan.judge.history import History
from gradsan.judge.provenance import params_of
from gradsan.record.events import Op, ParamId

Shares = dict[ParamId, float]
SAME = {"data", "detach", "clone", "copy", "alias", "to", "float", "contiguous", "view"}
DEEP = 8  # operations: a soft update is a handful
MIXING = {"add", "sub", "lerp"}
ROUNDING = 1e-6  # of `tau + (1 - tau)`


def shares(history: History, op: Op, depth: int = 0) -> Shares:
    """The share of each parameter; nothing where it is no mixture with known weights."""
    graph = history.graph
    if own := params_of(op):
        return {own[0]: 1.0} if len(own) == 1 else {}
    inputs, numbers = list(graph.inputs(op)), op.facts.scalars
    if depth > DEEP or len(inputs) != len(op.inputs) or not inputs:
        return {}
    parts = [shares(history, i, depth + 1) for i in inputs]
    if not all(parts):
        return {}
    if op.name in ("copy", "set_data"):  # what was there is gone
        return parts[-1]
    if op.name in SAME:
        return parts[0]
    if op.name in ("add", "sub") and len(parts) == 2:
        return _sum(parts[0], parts[1], op.facts.alpha if op.name == "add" else -op.facts.alpha)
    if op.name == "lerp" and len(parts) == 2 and numbers:
        kept = {pid: share * (1 - numbers[0]) for pid, share in parts[0].items()}
        return _sum(kept, parts[1], numbers[0])
    if op.name == "mul" and len(parts) == 1 and numbers:
        return {pid: share * numbers[0] for pid, share in parts[0].items()}
    if op.name == "div" and len(parts) == 1 and numbers and numbers[0]:
        return {pid: share / numbers[0] for pid, share in parts[0].items()}
    return {}


def _sum(one: Shares, other: Shares, weight: float) -> Shares:
    return {pid: one.get(pid, 0.0) + weight * other.get(pid, 0.0) for pid in one.keys() | other.keys()}


def is_mixed_with_itself(history: History, pid: ParamId, written: Op) -> bool:
    """Whether what a parameter was given is a mixture of nothing but itself; else it was moved, or shared."""
    parts, made_of = shares(history, written), history.graph.ancestors([written.nid]).values()
    mixes = any(op.name in MIXING and len(op.inputs) == 2 for op in made_of)
    return mixes and parts.keys() == {pid} and abs(parts[pid] - 1.0) < ROUNDING


def is_scaled(history: History, remark: Op) -> bool:
    """Whether a written parameter is known to be more or less than itself: `p.add_(p, alpha=-decay)`."""
    write = history.graph.get(remark.inputs[0])
    parts = shares(history, write) if write is not None else {}
    return bool(parts) and abs(parts.get(remark.facts.pid, 0.0) - 1.0) > ROUNDING


def mixed_at(history: History, written: Op) -> Op | None:
    """The operation that put the two parts of a written value together."""
    op: Op | None = written
    while op is not None and op.name in SAME | {"set_data"} and op.inputs:
        op = history.graph.get(op.inputs[-1] if op.name in ("copy", "set_data") else op.inputs[0])
    return op if op is not None and op.name in MIXING else None
