"""References that are trained: a copy of the policy, as it started, that the policy's own optimizer moves.

A copy that learns only through its difference from what it was copied from has no task of its own: it is what the
policy is measured against. Players of a population and twins of an ensemble start as copies, too, but have losses of
their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.flow import LINEAR
from gradsan.judge.leaks.own_weights import is_number
from gradsan.judge.ledger import Contribution
from gradsan.judge.objective.weighed import is_score
from gradsan.judge.provenance import params_of
from gradsan.record.events import Op, ParamId

if TYPE_CHECKING:
    from gradsan.judge.history import History

COMPARING = ("sub", "rsub", "kl_div")


class LiveReference(NamedTuple):
    difference: Op
    score: Op  # the reference's side of it
    pids: set[ParamId]


def live_reference(history: History, contribution: Contribution) -> LiveReference | None:
    """The first difference between the scores of a policy and of its copy, both live and both stepped."""
    graph, roots = history.graph, [root.nid for root in contribution.event.roots]
    sources = _copies(history, contribution.consumed_pids())
    if not sources or graph.is_hidden(roots):
        return None
    found = list[tuple[Op, Op]]()
    for op in graph.named(graph.live_ancestors(roots), COMPARING):
        sides = [i for i in graph.inputs(op) if i.live]
        for side, other in (sides, sides[::-1]) if len(sides) == 2 else ():
            theirs = graph.live_params([other.nid])
            own = graph.live_params([side.nid]) - theirs
            copied = own <= sources.keys() and all(sources[pid] in theirs for pid in own)
            if own and copied and _is_plain_score(history, side) and is_score(history, other):
                found.append((op, side))
    ways = {(op.nid, side.nid) for op, side in found}
    past = graph.ancestors(
        roots, lambda op, source: op.live and source.live and (op.nid, source.nid) not in ways
    )
    pids = sources.keys() & graph.live_params([side.nid for _, side in found])
    pids -= {pid for op in past.values() for pid in params_of(op)}
    return LiveReference(*min(found, key=lambda pair: pair[1].nid), pids) if pids else None


def _is_plain_score(history: History, op: Op) -> bool:
    """A log-probability that no gain or reward was multiplied with: that is a loss."""
    graph = history.graph
    made = graph.ancestors([op.nid], lambda user, source: user.live and user.name in LINEAR)
    weighed = (i for user in made.values() if user.live and user.name == "mul" for i in graph.inputs(user))
    return is_score(history, op) and not any(is_number(graph, i) for i in weighed)


def _copies(history: History, consumed: set[ParamId]) -> dict[ParamId, ParamId]:
    """Of the parameters that were stepped, those that began as copies of others of the same optimizer."""
    copies = history.networks.copies
    return {
        pid: copy.source
        for pid in consumed
        if (copy := copies.get(pid)) is not None and copy.source in consumed and not copy.after_training
        if {o.oid for o in history.owner_of(pid)} & {o.oid for o in history.owner_of(copy.source)}
    }
