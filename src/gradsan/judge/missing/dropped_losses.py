"""Losses that are computed with a graph and sent backward by nobody: what they would have trained gets nothing.

A value loss that is missing from the sum, a sum of which only the last term is sent backward, an entry of a dict that
is only logged. Noted while the graph is there, for what no loss has reached so far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.ledger import Contribution
from gradsan.record.events import Op, ParamId, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History

SUMS = {"add", "sub", "rsub"}
LOOKS = 8  # backwards that are looked at, of each line


class Dropped(NamedTuple):
    made: Site  # the loss that nobody sends backward
    change: Site  # where it should have come in


class DroppedLosses:
    def __init__(self, history: History) -> None:
        self._history = history
        self._looks: dict[Site, int] = {}
        self.of: dict[ParamId, Dropped] = {}
        self.applied: set[ParamId] = set()

    def settled(self, contribution: Contribution) -> None:
        history, site = self._history, contribution.site
        self.applied |= contribution.consumed_pids()
        if self._looks.get(site, 0) >= LOOKS:
            return
        owned = {pid for o in history.optimizers.values() for pid in o.params}
        unused = owned - self.applied - self.of.keys()
        if not unused:
            return
        self._looks[site] = self._looks.get(site, 0) + 1
        for end in self._ends(contribution):
            for pid in history.graph.live_params([end.nid]) & unused:
                self.of.setdefault(pid, Dropped(end.site, self._change(end, contribution)))

    def _ends(self, contribution: Contribution) -> list[Op]:
        """Live numbers of the same iteration that nothing live was made of, and that are no loss of a backward."""
        graph, now = self._history.graph, contribution.iteration
        sent = {root.nid for c in self._history.ledger.recent.values() for root in c.event.roots}
        numbers = (
            op
            for nid, op in graph.ops.items()
            if op.live and not op.shape and op.kind == "operation" and op.site and nid not in sent
            if graph.iteration_of.get(nid) == now
        )
        return [op for op in numbers if not self._is_used(op)]

    def _is_used(self, op: Op) -> bool:
        graph = self._history.graph
        users = (graph.get(nid) for nid in graph.consumers.get(op.nid, ()))
        return any(user is not None and user.live for user in users)

    def _change(self, end: Op, contribution: Contribution) -> Site:
        """The backward, where it takes a part of this or another entry of what one line makes; the sum that it was left
        out of; else the line that makes it."""
        graph = self._history.graph
        roots = [op for root in contribution.event.roots if (op := graph.get(root.nid)) is not None]
        behind = graph.live_ancestors([end.nid])
        if any(root.nid in behind or root.site == end.site for root in roots):
            return contribution.site
        return next((root.site for root in roots if root.name in SUMS and root.site), end.site)
