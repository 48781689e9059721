"""`x.requires_grad_(False)` on a result: PyTorch refuses, and x was meant to be a constant. Of what kind?"""

from __future__ import annotations

from typing import Literal

from gradsan.judge.flow import terms
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Failed

Meant = Literal["target", "weight", ""]


def meant_constant(graph: Provenance, event: Failed) -> Meant:
    """`data + value` is a bootstrap target, `data - value` an advantage; of anything else nobody can tell."""
    value = graph.get(event.value) if event.kind == "flag-of-result" else None
    if value is None:
        return ""
    summands = terms(graph, value)
    live = {term.sign for term in summands if term.op.live and graph.live_params([term.op.nid])}
    if not live or not any(not term.op.live for term in summands):
        return ""
    return "weight" if -1 in live else "target"
