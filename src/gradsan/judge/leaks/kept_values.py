"""Values that were computed before a step, with gradients on, and are part of a loss that was begun after it."""

from __future__ import annotations

from gradsan.judge.flow import JOINING, LINEAR
from gradsan.judge.history import History
from gradsan.record.events import NOBODY, Op, ParamId, Site, ValueId


def kept_over_step(history: History, roots: list[ValueId], pids: set[ParamId]) -> list[Op]:
    """The operations that made them, oldest first, one per line; none where the loss was computed as a whole
    before these parameters were stepped: then the order is wrong, and nothing was kept."""
    graph = history.graph
    live = graph.live_ancestors(roots)
    stepped = max(history.params[pid].stepped_after for pid in pids)
    later = {nid for nid in live if nid > stepped}
    if not any(nid in history.param_nodes for nid in later):
        return []  # no forward pass of its own
    readings = [
        nid for nid in live if nid <= stepped and history.param_nodes.get(nid, (NOBODY, 0))[0] in pids
    ]
    old = {nid: live[nid] for nid in graph.descendants(readings, live) if nid <= stepped}
    edge = [op for nid, op in old.items() if op.inputs and later.intersection(graph.consumers.get(nid, ()))]
    shared = {live[nid].site for nid in later}  # a helper that both passes go through is right in one of them
    found: dict[Site, Op] = {}
    for op in sorted(_made_by(edge, old, shared), key=lambda op: op.nid):
        found.setdefault(op.site, op)
    return list(found.values())


def _made_by(kept: list[Op], old: dict[ValueId, Op], shared: set[Site]) -> list[Op]:
    """Behind the stacking, picking and adding up that was done with them."""
    found: list[Op] = []
    stack = [(op, op) for op in kept]
    seen: set[ValueId] = set()
    while stack:
        op, maker = stack.pop()
        if op.nid in seen:
            continue
        seen.add(op.nid)
        if op.site and (op.site not in shared or not maker.site):
            maker = op
        if "log_prob" in op.tags or op.name not in LINEAR | JOINING:
            found.append(maker)
        else:
            stack.extend((old[nid], maker) for nid in op.inputs if nid in old)
    return [op for op in found if op.site]
