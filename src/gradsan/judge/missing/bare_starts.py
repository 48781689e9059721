"""An update that is itself differentiated, and starts from a bare copy of the weights: `w.data - lr * g` with
`create_graph=True`.

The gradient g keeps its graph, so the outer loss was meant to go back through the update to the weights that it starts
from. What comes back goes through the curvature alone; the way straight through is cut. Where the update is to be a
constant, or only a rate or an architecture is to learn through it, no step applies what comes back to the weights; and
where the loss asks the weights themselves, too, the update may be there for the curvature alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.flow import SAME, TAKEN_OUT, first_scalar
from gradsan.judge.ledger import Contribution
from gradsan.judge.provenance import Provenance, params_of
from gradsan.record.events import Op, ParamId

if TYPE_CHECKING:
    from gradsan.judge.history import History

BARE = TAKEN_OUT | SAME | {"alias"}


class BareStart(NamedTuple):
    cut: Op
    update: Op
    pids: set[ParamId]


def bare_starts(history: History, contribution: Contribution) -> Iterator[BareStart]:
    """One for each line."""
    graph, consumed = history.graph, contribution.consumed_pids()
    within = graph.live_ancestors(root.nid for root in contribution.event.roots) if consumed else {}
    if not graph.named(within, ("grad",)):
        return
    found: dict[int, BareStart] = {}
    consumed = consumed - _reached_straight(graph, contribution)
    for update in graph.named(within, ("sub", "add")):
        sides = list(graph.inputs(update))
        if len(sides) != 2 or not sides[1].live or sides[0].live:
            continue
        start, gradient = _start(graph, sides[0]), _gradient(graph, sides[1])
        if start is None or gradient is None or start.nid not in gradient.inputs[1:]:
            continue
        pids = (set(params_of(start)) or graph.live_params([start.nid])) & consumed
        if pids and not graph.is_hidden([update.nid]):
            before = found.get(sides[0].site)
            known = before.pids if before is not None else set[ParamId]()
            found[sides[0].site] = BareStart(sides[0], update, known | pids)
    yield from found.values()


def _reached_straight(graph: Provenance, contribution: Contribution) -> set[ParamId]:
    """What the loss reaches on a way that is no gradient."""
    roots = [root.nid for root in contribution.event.roots]
    straight = graph.ancestors(roots, lambda op, source: op.live and source.live and op.name != "grad")
    return {pid for op in straight.values() for pid in params_of(op)}


def _start(graph: Provenance, op: Op) -> Op | None:
    """The live value that this is a copy of."""
    here: Op | None = op
    while here is not None and not here.live and here.name in BARE:
        here = next(graph.inputs(here), None)
    return here if here is not None and here.live else None


def _gradient(graph: Provenance, op: Op) -> Op | None:
    """Behind a rate, or a limit by which it is clipped."""
    here: Op | None = op
    while here is not None and here.name != "grad":
        plain = here.name in SAME or here.name in ("neg", "clamp")
        scaled = here.name in ("mul", "div") and (len(here.inputs) > 1 or first_scalar(here) != 0.0)
        if not plain and not scaled:
            return None
        live = [source for source in graph.inputs(here) if source.live]
        here = next((i for i in live if i.name == "grad"), live[0] if live else None)
    return here
