"""The policy's score of one answer, less the reference's score of another: both were made alike, up to which part of
the batch was taken (`chosen, rejected = …` in one place, `rejected, chosen = …` in the other)."""

from __future__ import annotations

from gradsan.judge.flow import SELECTING
from gradsan.judge.objective.scores import Difference
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ValueId

MOST = 64  # pairs of values
PARTING = SELECTING - {"gather", "take_along_dim", "roll"}


def exchanged_part(graph: Provenance, difference: Difference) -> Op | None:
    """What the reference takes another part with. None where the two were not made alike down to there."""
    stack, seen = [(difference.live, difference.constant)], set[ValueId]()
    for _ in range(MOST):
        if not stack:
            return None
        ours, theirs = stack.pop()
        while theirs.name == "detach" and ours.name != "detach":
            theirs = next(graph.inputs(theirs), theirs)
        sources, others = list(graph.inputs(ours)), list(graph.inputs(theirs))
        if ours.name != theirs.name or ours.shape != theirs.shape or len(sources) != len(others):
            return None
        if ours.name in PARTING and len(sources) == 1:
            apart = ours.facts.part != theirs.facts.part or ours.facts.settings != theirs.facts.settings
            if apart and sources[0].shape == others[0].shape and sources[0].name == others[0].name:
                return theirs
        pairs = zip(sources, others, strict=True)
        stack += [pair for pair in pairs if pair[0].live and pair[0].nid not in seen]
        seen.update(source.nid for source in sources)
    return None
