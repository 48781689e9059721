"""Critics: heads that are fitted to targets made with their own values, be it by way of another head.

Implicit Q-learning and the first soft actor-critic fit `q` to `r + v(s')` and `v` to `q`: neither target holds its own
head's values, and both bootstrap all the same."""

from __future__ import annotations

from gradsan.judge.history import History
from gradsan.judge.meaning import Head, head
from gradsan.judge.residuals import residuals
from gradsan.record.events import ParamId, ValueId


class Critics:
    def __init__(self, history: History) -> None:
        self._history = history
        self._fitted_to: dict[Head, set[ParamId]] = {}  # whose values, or copies' values, the targets held

    def learn(self, roots: list[ValueId]) -> set[ParamId]:
        """What the fits in this loss and in those before it tell."""
        graph, copies = self._history.graph, self._history.networks.copies
        for residual in residuals(graph, roots):
            behind = graph.value_params([t.op.nid for t in residual.data()])
            originals = behind | {copies[pid].source for pid in behind if pid in copies}
            for own in {head(graph, term.op.nid) for term in residual.live()}:
                if own and originals:
                    self._fitted_to.setdefault(own, set()).update(originals)
        return {pid for own in self._fitted_to if self._is_fitted_to_itself(own) for pid in own}

    def _is_fitted_to_itself(self, own: Head) -> bool:
        behind = set(self._fitted_to[own])
        by_way_of = [
            targets for other, targets in self._fitted_to.items() if other != own and other <= behind
        ]
        return own <= behind.union(*by_way_of)
