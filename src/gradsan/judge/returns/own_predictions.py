"""A value that is fitted to what it said itself: `returns = advantages + values`, where the advantages are still the
zeros that their buffer was made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.flow import SELECTING, SHAPING, TAKEN_OUT, behind_all
from gradsan.judge.history import History
from gradsan.judge.objective.weighed import DIFFERENCES
from gradsan.judge.report.wording import line, value_at
from gradsan.judge.returns.misaligned import Memory, Misaligned
from gradsan.record.events import Backward, Op

ZEROS = {"zeros", "zeros_like", "new_zeros"}
PASSED = SELECTING | SHAPING | TAKEN_OUT | {"alias"}


class OwnPrediction(NamedTuple):
    """`total`: the sum of zeros and what the network predicted; `error`: where it is compared with the prediction."""

    total: Op
    error: Op


class OwnPredictions:
    def __init__(self, history: History, memory: Memory) -> None:
        self._history, self._memory = history, memory

    def found_in(self, event: Backward) -> Iterator[Misaligned]:
        for total, error in own_predictions(self._history, event):
            if self._memory.is_enough(total.nid, total.site):
                yield Misaligned(
                    total.site,
                    f"{value_at(self._history, total.site, 'the return')} is what the value learns on "
                    f"{line(self._history, error.site)} and is its own predictions plus zeros: no reward is in it",
                    [("return", total.site), ("loss", error.site), ("backward", event.site)],
                )


def own_predictions(history: History, event: Backward) -> Iterator[OwnPrediction]:
    graph = history.graph
    for error in graph.named(graph.live_ancestors(root.nid for root in event.roots), DIFFERENCES):
        sides = [side for nid in error.inputs[:2] if (side := graph.get(nid)) is not None]
        live, constant = [s for s in sides if s.live], [s for s in sides if not s.live]
        total = behind_all(graph, constant[0], PASSED) if len(live) == len(constant) == 1 else None
        if total is None or total.name != "add" or len(total.inputs) != 2 or not total.shape:
            continue
        own = graph.live_params([live[0].nid])
        parts = [behind_all(graph, part, PASSED) for part in graph.inputs(total)]
        zeros = [p for p in parts if p is not None and p.name in ZEROS and _is_untouched(history, p)]
        said = [p for p in parts if p is not None and own & graph.value_params([p.nid])]
        if len(zeros) == len(said) == 1:
            yield OwnPrediction(total, error)


def _is_untouched(history: History, zeros: Op) -> bool:
    """Whether nothing but the sum has been made of it: who has an array or a part of it may write there unseen."""
    return len(history.graph.consumers.get(zeros.nid, ())) == 1
