"""Returns that were left alive, behind an advantage whose baseline was not: `returns - values.detach()`."""

from __future__ import annotations

from gradsan.judge.flow import ADDED_AT, ADDITIVE, TAKEN_OUT, unshaped
from gradsan.judge.provenance import Provenance
from gradsan.judge.residuals import LIBRARY_LOSSES
from gradsan.record.events import Op, ParamId, ValueId

COMPARING = LIBRARY_LOSSES | {"sub", "rsub"}


def live_returns(graph: Provenance, advantage: Op, pids: set[ParamId], live: dict[ValueId, Op]) -> Op | None:
    """The sum that made them, where a critic is fitted to them as they are, too: whoever has detached the critic's own
    value for the advantage did what there is to do on that line."""
    sides = [side for side in graph.inputs(advantage) if side.floating]
    alive, dead = ([side for side in sides if side.live is kind] for kind in (True, False))
    if advantage.name not in ("sub", "rsub") or len(alive) != 1 or len(dead) != 1:
        return None
    baseline, returns = unshaped(graph, dead[0]), unshaped(graph, alive[0])
    parted = baseline.name in TAKEN_OUT and graph.value_params([baseline.nid]) & pids
    if not parted or returns.name not in ADDITIVE | ADDED_AT:
        return None
    users = (live[nid] for nid in graph.consumers.get(alive[0].nid, ()) if nid in live)
    fitted_to = any(user.name in COMPARING and user.nid != advantage.nid for user in users)
    return returns if fitted_to else None
