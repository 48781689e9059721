"""A target that takes the next value only where the episode goes on, and its entropy everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.flow import REDUCING, SHAPING, TAKEN_OUT
from gradsan.judge.history import History
from gradsan.judge.lines.arrival_lines import ARRIVING
from gradsan.judge.objective.weighed import DIFFERENCES
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Backward, Op, ValueId

SAME_ROWS = SHAPING | TAKEN_OUT | {"alias", "neg"}
MADE_OF_SCORES = SHAPING | REDUCING | TAKEN_OUT | {"sub", "add", "neg", "mul"}
SCORES = {"log_softmax", "log"}
STORED = ARRIVING | {"setitem", "copy", "index_put"}


class Part(NamedTuple):
    """A learned summand of a target: the sum that adds it, and the data that it is multiplied with, row by row."""

    op: Op
    added: Op
    weights: frozenset[ValueId]


class Unmasked(NamedTuple):
    met: Op
    value: Part
    entropy: Part


def unmasked_parts(history: History, event: Backward) -> Iterator[Unmasked]:
    """`reward + mask * next_q - alpha * next_log_prob`: both are of one next action, and belong into one bracket."""
    graph = history.graph
    for met in graph.named(graph.live_ancestors(root.nid for root in event.roots), DIFFERENCES):
        targets = [side for side in graph.inputs(met) if not side.live and side.floating]
        if len(targets) != 1 or not any(map(_scores, graph.ancestors([targets[0].nid]).values())):
            continue
        parts = list(_parts(graph, targets[0]))
        values = [part for part in parts if part.weights and not _is_score(graph, part.op)]
        for part in parts:
            of_one = [v for v in values if not part.weights and _are_of_one_pass(graph, v.op, part.op)]
            if of_one and _is_score(graph, part.op):
                yield Unmasked(met, of_one[0], part)
                break


def _parts(graph: Provenance, target: Op) -> Iterator[Part]:
    stack = [Part(target, target, frozenset())]
    for _ in range(64):
        if not stack:
            return
        op, added, weights = stack.pop()
        inputs = [source for source in graph.inputs(op) if source.floating and source.shape]
        learned = [source for source in inputs if is_learned(graph, source)]
        if op.name in ("add", "sub", "rsub"):
            stack += [Part(source, op, weights) for source in learned]
        elif op.name == "mul" and len(learned) == 1:
            data = {source.nid for source in inputs if source.nid != learned[0].nid}
            stack.append(Part(learned[0], added, weights | data))
        elif op.name in SAME_ROWS and len(learned) == 1:
            stack.append(Part(learned[0], added, weights))
        else:
            yield Part(op, added, weights)


def is_learned(graph: Provenance, op: Op) -> bool:
    """By a network, since it was last stored: what a buffer gives back is data, whoever chose it."""
    behind = graph.ancestors([op.nid], lambda user, _: user.name not in STORED)
    return any(nid in graph.parameters for nid in behind)


def _is_score(graph: Provenance, op: Op) -> bool:
    """A log-probability, or an entropy."""
    found = graph.ancestors([op.nid], lambda user, _: user.name in MADE_OF_SCORES and not _scores(user))
    return any(map(_scores, found.values()))


def _scores(op: Op) -> bool:
    return bool({"log_prob", "entropy"}.intersection(op.tags)) or op.name in SCORES


def _are_of_one_pass(graph: Provenance, value: Op, score: Op) -> bool:
    """Whether the value is that of the very action that is scored, or is weighed with the probabilities: all that a
    network has done for the score went into the value, too. Heads on one trunk each have a layer of their own."""
    behind, scored = graph.ancestors([value.nid]), graph.ancestors([score.nid])
    own = [op for nid, op in scored.items() if nid not in behind]
    if any(i.nid in graph.parameters for op in own for i in graph.inputs(op)):
        return False
    shared = (op for nid, op in scored.items() if nid in behind)
    return any(op.kind == "operation" and op.floating and is_learned(graph, op) for op in shared)
