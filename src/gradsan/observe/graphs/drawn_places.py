"""Which tokens a loss trains, of those that were drawn and of the others beside them: read place by place in the user's
own backward, before the node of the log-probabilities that were picked."""

from __future__ import annotations

from typing import Any

import torch

from gradsan.observe.containment import Containment
from gradsan.observe.graphs.graph import KEY, Label
from gradsan.observe.ops.answers import UNKNOWN
from gradsan.observe.ops.draws import Draws, ScoredDraws
from gradsan.observe.ops.paddings import Paddings, ScoredPadding
from gradsan.record.events import DrawnPlaces, PaddedPlaces, ValueId

MOST = 8  # at one backward


class DrawnWatcher:
    def __init__(
        self, containment: Containment, named: dict[Any, Label], draws: Draws, paddings: Paddings
    ) -> None:
        self._contain = containment.contain
        self.found: list[DrawnPlaces] = []
        self.padded: list[PaddedPlaces] = []
        self._handles: list[Any] = []
        for node, (nid, _) in named.items():
            scored = draws.scored.get(nid) if nid and KEY in node.metadata else None
            if scored is not None and len(self._handles) < MOST:
                self._handles.append(node.register_prehook(self._hook(self._look, nid, scored)))
            padding = paddings.scored.get(nid) if nid and KEY in node.metadata else None
            if padding is not None and len(self._handles) < MOST:
                self._handles.append(node.register_prehook(self._hook(self._pad, nid, padding)))

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()

    def _hook(self, look: Any, nid: ValueId, scored: ScoredDraws | ScoredPadding) -> Any:
        def hook(gradients: Any) -> None:
            self._contain("drawn places", look, gradients, nid, scored)

        return hook

    def _pad(self, gradients: Any, nid: ValueId, scored: ScoredPadding) -> None:
        arrived = _arrived(gradients)
        if arrived is None:
            return
        if scored.counted is not None:
            trained = scored.counted & (arrived != 0)
        elif arrived.numel() == scored.padding.numel():
            trained = (arrived != 0).reshape(scored.padding.shape)
        else:
            return
        self.padded.append(PaddedPlaces(nid, int(trained.sum()), int((trained & scored.padding).sum())))

    def _look(self, gradients: Any, nid: ValueId, scored: ScoredDraws) -> None:
        arrived = _arrived(gradients)
        if arrived is None or arrived.numel() != scored.odds.numel():
            return
        slopes = arrived.float().reshape(scored.odds.shape)
        if scored.counted is not None:
            slopes = slopes * scored.counted
        self.found.append(_places(nid, scored, slopes))


def _arrived(gradients: Any) -> torch.Tensor | None:
    """What came to a node, where that is one tensor that can be read as it lies."""
    arrived = gradients[0].detach() if len(gradients) == 1 and gradients[0] is not None else None
    return arrived if arrived is not None and arrived.layout == torch.strided else None


def _places(nid: ValueId, scored: ScoredDraws, slopes: torch.Tensor) -> DrawnPlaces:
    odds, trained = scored.odds, slopes != 0
    other = odds.isnan()
    drawn = ~other & (odds != UNKNOWN)
    own = trained & drawn
    # Rows of which not everything is known, and those that teach nothing, say nothing.
    clear = ~((odds == UNKNOWN).any(1)) & (own.sum(1) >= 2)
    drawn, own, other = drawn[clear], own[clear], (trained & other)[clear]
    rows, width = drawn.shape
    at = torch.arange(width, device=odds.device)
    first = torch.where(drawn, at, width).amin(1) if rows else at[:0]
    last = torch.where(drawn, at, -1).amax(1) if rows else at[:0]
    ended, line = last < width - 1, torch.arange(rows, device=odds.device)
    used, beside = slopes[clear][own], slopes[clear][other]
    return DrawnPlaces(
        value=nid,
        first=scored.first,
        last=scored.last,
        rows=rows,
        own=int(own.sum()),
        before=int((other & (at < first[:, None])).sum()),
        between=int((other & (at > first[:, None]) & (at < last[:, None])).sum()),
        behind=int((other & (at > last[:, None])).sum()),
        without_first=int((~own[line, first] & own[line, (first + 1).clamp(max=width - 1)]).sum()),
        ended=int(ended.sum()),
        without_last=int((ended & ~own[line, last] & own[line, (last - 1).clamp(min=0)]).sum()),
        rises=bool((used > 0).any()),
        falls=bool((used < 0).any()),
        others_rise=bool((beside > 0).any()),
        others_fall=bool((beside < 0).any()),
        apart=_apart(scored, clear, own),
        column=int(other.any(0).int().argmax()) if bool(other.any()) else -1,
        cut=scored.cut,
    )


def _apart(scored: ScoredDraws, clear: torch.Tensor, own: torch.Tensor) -> tuple[float, ...]:
    if scored.apart is None:
        return ()
    apart = scored.apart[clear][own & scored.odds[clear].isfinite()]
    if not apart.numel() or not bool(apart.isfinite().all()):
        return ()
    low, high = (float(x) for x in torch.aminmax(apart))
    return low, high, float(apart.abs().mean())
