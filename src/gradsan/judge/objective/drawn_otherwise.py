"""Tokens that are scored with other log-probabilities than they were drawn with, by the same weights: at another
temperature, or at a place that is one off. A ratio of two scores that are both wrong does not show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.judge.objective import same_policy, scores
from gradsan.record.events import Backward, DrawnPlaces, Op, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

PLACES = 16
FAR, ON_AVERAGE = 0.2, 0.04  # an engine of lower precision draws with slightly other ones


def drawn_otherwise(history: History, event: Backward, found: DrawnPlaces) -> Op | None:
    """What scored them, where it must have said the same."""
    graph = history.graph
    scored, first, last = (graph.get(nid) for nid in (found.value, found.first, found.last))
    if scored is None or first is None or last is None or not found.both_signs or found.own < PLACES:
        return None
    low, high, mean = found.apart if len(found.apart) == 3 else (0.0, 0.0, 0.0)
    if max(-low, high) < FAR or mean < ON_AVERAGE:
        return None
    new = scores.scoring(graph, scored)
    for draw in (first, last):
        # What it was drawn from, and not what its own prompt was drawn from.
        old = {nid: op for source in graph.inputs(draw) for nid, op in scores.scoring(graph, source).items()}
        if not same_policy.have_the_same_weights(history, old, new) or _is_noisy(old):
            return None
    return None if _is_noisy(new) or _is_corrected(history, event) else scored


def _is_noisy(region: dict[ValueId, Op]) -> bool:
    return any(op.name in scores.DROPPING and not op.facts.idle for op in region.values())


def _is_corrected(history: History, event: Backward) -> bool:
    """A ratio to what the choices were drawn with: the loss knows that it is another policy."""
    graph, roots = history.graph, [root.nid for root in event.roots]
    within = graph.live_ancestors(roots)
    return any(
        difference.largest > FAR and scores.ratio_of(graph, difference, within) is not None
        for difference in scores.differences(graph, roots)
    )
