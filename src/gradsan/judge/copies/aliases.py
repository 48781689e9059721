"""Two names for one network: how it shows in what is done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.judge.lines.source import assigned_name, bindings, looped_over, receiver_at, words_at
from gradsan.judge.provenance import Provenance, params_of
from gradsan.record.events import NOWHERE, Op, ParamId, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History


def mixes_itself(graph: Provenance, written: Op) -> bool:
    """`t.lerp_(p, 0.01)` and its kind, with one parameter in both places."""
    write = graph.get(written.inputs[0])
    if write is None:
        return False
    if pair := beside(graph, write, written.facts.pid):
        return write.name in ("_foreach_lerp", "_foreach_add") and _is_share_of(
            graph, pair[1], written.facts.pid
        )
    parts = list(graph.inputs(write))
    if write.name == "lerp" and write.facts.in_place and len(parts) > 1:  # into its memory, whatever its name
        return _is_share_of(graph, parts[1], written.facts.pid)
    if write.name == "copy" and len(parts) == 2 and parts[1].name in ("add", "lerp"):
        parts = list(graph.inputs(parts[1]))
    elif write.name not in ("lerp", "add"):
        return False
    return len(parts) > 1 and all(_is_share_of(graph, part, written.facts.pid) for part in parts[:2])


def beside(graph: Provenance, write: Op, pid: ParamId) -> list[Op]:
    """Of a foreach over two lists: this parameter in the first, and what stands in its place in the second."""
    inputs = list(graph.inputs(write))
    half = len(inputs) // 2
    if not write.name.startswith("_foreach") or 2 * half != len(inputs) or len(inputs) != len(write.inputs):
        return []
    pairs = zip(inputs[:half], inputs[half:], strict=True)
    found = [[one, other] for one, other in pairs if _is_share_of(graph, one, pid)]
    return found[0] if len(found) == 1 else []


def _is_share_of(graph: Provenance, op: Op, pid: ParamId) -> bool:
    while op.name in ("data", "detach", "alias", "mul", "div") and len(op.inputs) == 1:
        source = graph.get(op.inputs[0])
        if source is None:
            return False
        op = source
    if op.name in ("sub", "rsub") and len(op.inputs) == 2:  # `t.add_(tau * (p - t))`
        return all(_is_share_of(graph, part, pid) for part in graph.inputs(op))
    return params_of(op) == (pid,)


def frozen_by_another_name(history: History, pids: list[ParamId]) -> Site:
    """Where a network got the name that it was frozen by, without being copied, though an optimizer was given it by its
    own: the freeze was meant for a copy."""
    param = next((history.params[pid] for pid in pids if history.params[pid].frozen_at), None)
    freeze = history.sites.get(param.frozen_at) if param is not None else None
    owners = history.owner_of(param.pid) if param is not None else []
    made = history.sites.get(owners[0].site) if owners else None
    if param is None or freeze is None or made is None or made.file != freeze.file:
        return NOWHERE
    trained = words_at(made.file, made.line)
    receiver, bound = receiver_at(freeze.file, freeze.line), assigned_name(freeze.file, freeze.line)
    if bound and receiver in trained and bound.rpartition(".")[2] not in trained:
        return param.frozen_at  # `reference = policy.eval().requires_grad_(False)`
    for name in dict.fromkeys((receiver, *looped_over(freeze.file, freeze.line))):
        before = [b for b in bindings(freeze.file, name) if b.line <= freeze.line]
        if before and before[-1].plain and name not in trained and before[-1].given & trained - {"self"}:
            return history.site_at(freeze.file, before[-1].line, before[-1].function)
    return NOWHERE
