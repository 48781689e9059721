"""Padding that a loss knows of (`ids != pad` has a part in it: in an attention mask, in a length), and learns all the
same. A loss that knows of none may mean what it does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.shapes.drawn_tokens import line_of_the_mask
from gradsan.record.events import Backward, Op, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History

LEAST, SHARE, LOOKS = 4, 0.1, 2


class LearnedPadding(NamedTuple):
    site: Site
    scored: Op
    trained: int
    padding: int


class PaddedTokens:
    def __init__(self, history: History) -> None:
        self._history = history
        self._looks: dict[Site, int] = {}

    def learned(self, event: Backward) -> Iterator[LearnedPadding]:
        graph = self._history.graph
        for found in event.facts.padded:
            scored = graph.get(found.value)
            if scored is None or found.padding < max(LEAST, SHARE * found.trained):
                continue
            if self._is_masked_somewhere(event) and self._is_known(scored.site):
                within = graph.live_ancestors(root.nid for root in event.roots)
                site, _ = line_of_the_mask(graph, scored, within, -1)
                yield LearnedPadding(site, scored, found.trained, found.padding)

    def _is_masked_somewhere(self, event: Backward) -> bool:
        graph = self._history.graph
        behind = graph.ancestors(root.nid for root in event.roots)
        return any(len(op.shape) == 2 and not op.floating for op in graph.named(behind, {"ne"}))

    def _is_known(self, site: Site) -> bool:
        self._looks[site] = self._looks.get(site, 0) + 1
        return self._looks[site] >= LOOKS
