"""Cuts before a transform: what `torch.func` is given without a graph is lost inside, where nobody can look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.judge.flow import TAKEN_OUT
from gradsan.record.events import NOWHERE, Op, ParamId, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History


def cut_before_transform(history: History, pids: set[ParamId]) -> Site:
    """The one line that takes a value of all these parameters out of its graph, where it is used and what is made of
    it comes to no loss that could be followed. What a block without gradients makes is a target."""
    if "transforms" not in history.blind:
        return NOWHERE
    graph = history.graph
    cuts = [op for op in graph.ops.values() if op.name in TAKEN_OUT and op.site and graph.is_cut(op)]
    found = [op for op in cuts if pids <= graph.live_params([i.nid for i in graph.inputs(op) if i.live])]
    sites = {op.site for op in found if graph.consumers.get(op.nid) and not _is_switched_off(op)}
    return sites.pop() if len(sites) == 1 else NOWHERE


def _is_switched_off(op: Op) -> bool:
    return not {"no_grad", "inference_mode"}.isdisjoint(op.tags)
