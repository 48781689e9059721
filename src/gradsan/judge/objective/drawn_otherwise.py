"""Tokens that are scored with other log-probabilities than they were drawn with, by the same weights: at another
temperature, or at a place that is one off. A ratio of two scores that are both wrong does not show it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradsan.judge.flow import SHAPING
from gradsan.judge.lines.callers import used_in
from gradsan.judge.objective import same_policy, scores
from gradsan.judge.shapes.pooled_draws import PooledDraws
from gradsan.record.events import Backward, DrawnPlaces, Op, Site, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History
    from gradsan.judge.provenance import Provenance

PLACES = 16
PASSING = SHAPING | {"log_softmax", "log", "softmax"}
MIXING = {"add", "lerp", "where", "addcmul"}
NORMALISING = {"softmax", "log_softmax", "linear", "matmul", "addmm", "embedding"}
FAR, ON_AVERAGE = 0.2, 0.04  # an engine of lower precision draws with slightly other ones


class DrawnOtherwise:
    def __init__(self, history: History) -> None:
        self._history = history
        self._pooled = PooledDraws(1, PLACES)

    def judge(self, event: Backward) -> Iterator[tuple[Op, DrawnPlaces]]:
        for look in event.facts.drawn:
            scored = self._history.graph.get(look.value)
            low, high, mean = look.apart if len(look.apart) == 3 else (0.0, 0.0, 0.0)
            if scored is None or max(-low, high) < FAR or mean < ON_AVERAGE:
                continue
            if not _by_the_same_weights(self._history, event, look, scored):
                continue
            found = self._pooled.enough(scored.site, look)
            # Where not all could be drawn, the others were drawn more often; never less often.
            if found is not None and not (found.cut and min(-found.apart[0], found.apart[1]) < FAR):
                yield scored, found


def _by_the_same_weights(history: History, event: Backward, found: DrawnPlaces, scored: Op) -> bool:
    """Whether what scored them must have said the same as what they were drawn from."""
    graph = history.graph
    first, last = (graph.get(nid) for nid in (found.first, found.last))
    if first is None or last is None:
        return False
    new = scores.scoring(graph, scored)
    for draw in (first, last):
        # What it was drawn from, and not what its own prompt was drawn from.
        old = {
            nid: op for source in given_to(graph, draw) for nid, op in scores.scoring(graph, source).items()
        }
        same = same_policy.have_the_same_weights(history, old, new)
        if not same or _is_noisy(old) or _is_mixed(graph, draw):
            return False
    return not _is_noisy(new) and not _is_corrected(history, event)


def given_to(graph: Provenance, draw: Op) -> list[Op]:
    """What a draw was made from: for a distribution that normalises it while it draws, what was there before."""
    found, stack = list[Op](), list(graph.inputs(draw))
    while stack:
        source = stack.pop()
        if source.floating and scores.chooses(source):
            stack += graph.inputs(source)
        else:
            found.append(source)
    return found


def _is_mixed(graph: Provenance, draw: Op) -> bool:
    """Probabilities that were mixed with others on purpose, to explore: something was added to them."""
    stack, seen = list(graph.inputs(draw)), set[ValueId]()
    while stack:
        op = stack.pop()
        if op.name in MIXING:
            return True
        if op.floating and op.nid not in seen and op.name not in NORMALISING:
            stack += graph.inputs(op)
        seen.add(op.nid)
    return False


def _is_noisy(region: dict[ValueId, Op]) -> bool:
    return any(op.name in scores.DROPPING and not op.facts.idle for op in region.values())


def _is_corrected(history: History, event: Backward) -> bool:
    """A ratio to what the choices were drawn with, live or a constant weight: the loss knows that it is another
    policy."""
    graph, roots = history.graph, [root.nid for root in event.roots]
    within = graph.live_ancestors(roots)
    corrected = any(
        difference.largest > FAR and scores.ratio_of(graph, difference, within) is not None
        for difference in scores.differences(graph, roots)
    )
    return corrected or any(
        max(map(abs, difference.facts.apart[:2]), default=0.0) > FAR
        for op in graph.named(graph.ancestors(roots), ("exp",))
        for difference in graph.inputs(op)
        if difference.name == "sub"
    )


def line_of_the_logits(history: History, scored: Op) -> Site:
    """What the scores were normalised from, as the line sees it that picked one of them: there a place is one off, or a
    temperature left out. A helper that only normalises and picks serves others as well."""
    graph, op = history.graph, scored
    while (source := next((i for i in graph.inputs(op) if i.floating), None)) is not None:
        op = source
        if op.name not in PASSING and not _normalises(graph, op):
            break
    return used_in(history, op, scored) if op.kind == "operation" and op.site else scored.site


def _normalises(graph: Provenance, op: Op) -> bool:
    """`logits - logits.logsumexp(-1, keepdim=True)`, as a distribution does it."""
    sources = list(graph.inputs(op)) if op.name == "sub" else []
    return len(sources) == 2 and sources[1].name == "logsumexp"
