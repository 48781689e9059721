"""What probed values belong to: the head of a network, a distribution and its own sample, the line of a loss."""

from __future__ import annotations

import math

from gradsan.judge import flow
from gradsan.judge.history import History
from gradsan.judge.ledger import Contribution
from gradsan.judge.provenance import PARAMETERS, Provenance, params_of
from gradsan.record.events import NOWHERE, Op, ParamId, Probe, Site, ValueId

Head = frozenset[ParamId]
ENOUGH = 3  # looks: before, a sign may be that of a beginning
SPREAD = 1e-3  # derivatives that differ by less are one number, rounded


def head(graph: Provenance, nid: ValueId) -> Head:
    """The parameters next to this value: those of the layers whose results it was made of."""
    found: set[ParamId] = set()
    stack, seen = [nid], set()
    while stack:
        op = graph.get(stack.pop())
        if op is None or op.nid in seen or not op.live:
            continue
        seen.add(op.nid)
        if own := params_of(op):
            found.update(own)
        elif direct := {pid for i in graph.inputs(op) if i.live for pid in params_of(i)}:
            found |= direct
        else:
            stack.extend(op.inputs)
    return frozenset(found)


def layer(graph: Provenance, nid: ValueId) -> Head:
    """The parameters of the layer that made this very value, frozen ones too."""
    op = graph.get(nid)
    return frozenset(pid for i in graph.inputs(op) for pid in params_of(i)) if op is not None else frozenset()


def descends(history: History, contribution: Contribution) -> int:
    """1 where the optimizers that took this gradient make the loss small, -1 where they make it large (`maximize`),
    0 where they do not agree, or the script itself applied it."""
    if contribution.by_hand or not contribution.consumed:
        return 0
    ways = {history.optimizers[oid].maximize for oid in contribution.consumers()}
    return 0 if len(ways) > 1 else -1 if ways.pop() else 1


def uphill(history: History, own: Head) -> int:
    """-1 for a network whose optimizer makes its loss large."""
    return -1 if any(o.maximize for pid in own for o in history.owner_of(pid)) else 1


def sign_of(probe: Probe) -> int:
    """Of the derivatives, where they have one in common."""
    return int(probe.positive > 0) - int(probe.negative > 0) if not (probe.positive and probe.negative) else 0


def are_weighted(probes: list[Probe]) -> bool:
    """Whether the samples of one value, or of one line's values in a rollout, count differently: a mask and an average
    do not make an objective of a likelihood. Samples that nothing came of say nothing."""
    if any(p.positive for p in probes) and any(p.negative for p in probes):
        return True
    least = min((p.least for p in probes if p.least), default=math.inf)
    largest = max(abs(end) for probe in probes for end in (probe.low, probe.high))
    return len({p.samples for p in probes}) == 1 and largest - least > SPREAD * largest > 0.0


def joins(history: History, nid: ValueId, roots: list[ValueId]) -> Site:
    """The line on which a value, scaled and averaged, is added to the rest of the loss."""
    graph = history.graph
    within = graph.live_ancestors(roots)
    own = graph.live_ancestors([nid])
    drawn = {op.nid for op in own.values() if "rsample" in op.tags}
    op, passed = within.get(nid), set(own)
    while op is not None:
        onward = sorted(n for n in graph.consumers.get(op.nid, ()) if n in within)
        if not onward:
            break
        following = within[onward[0]]
        others = [i for i in graph.inputs(following) if i.live and i.nid not in passed]
        others = [i for i in others if not _is_of_the_sample(graph, i, drawn)]
        if following.name in ("add", "sub", "rsub") and others and following.site:
            return following.site
        passed.add(following.nid)
        op = following
    return op.site if op is not None else NOWHERE


def _is_of_the_sample(graph: Provenance, op: Op, drawn: set[ValueId]) -> bool:
    """Made of what was drawn and of nothing else: what a squashing takes off a log-probability is a part of it."""
    behind = graph.ancestors([op.nid], lambda user, _: user.nid not in drawn) if drawn else {}
    return bool(drawn & behind.keys()) and not any(o.kind in PARAMETERS for o in behind.values())


def is_own_sample(graph: Provenance, log_prob: Op) -> bool:
    """Whether this log-probability scores a sample that the same distribution drew with gradient."""
    live = graph.live_ancestors([log_prob.nid])
    drawn = {nid for op in live.values() if "rsample" in op.tags for nid in op.inputs if nid in live}
    scored = {nid for op in live.values() if "log_prob" in op.tags for nid in op.inputs if nid in live}
    made = {op.nid for op in live.values() if "rsample" in op.tags}
    shared = (drawn & scored) - made
    return bool(shared) or (bool(made) and bool(_behind(graph, drawn - made) & _behind(graph, scored - made)))


def _behind(graph: Provenance, nids: set[ValueId]) -> set[ValueId]:
    """What the parameters of a distribution were before they were broadcast."""
    found = set(nids)
    for nid in nids:
        op = graph.get(nid)
        while op is not None and op.name in flow.SHAPING | {"broadcast_tensors"} and op.inputs:
            op = graph.get(op.inputs[0])
            if op is not None and op.inputs:
                found.add(op.nid)
    return found
