"""Who handed a helper what it was given: the line to change is often the one that called it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from gradsan.judge.flow import culprit_of, is_choice
from gradsan.judge.lines.handed_functions import named_by_caller
from gradsan.judge.lines.source import function_at
from gradsan.judge.provenance import params_of
from gradsan.record.events import NOWHERE, Chain, Op, Site

COMPREHENSIONS = {"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"}
NEW_TENSORS = {"tensor", "as_tensor", "FloatTensor", "Tensor", "new_tensor", "asarray", "from_numpy"}

if TYPE_CHECKING:
    from gradsan.judge.history import History, Optimizer
    from gradsan.judge.ledger import Contribution
    from gradsan.judge.provenance import Provenance

Way = tuple[Site, ...]  # a line and those it was called from, the innermost first


def way(history: History, site: Site, chain: Chain) -> Way:
    return (site, *history.chains.get(chain, ()))


def way_of(history: History, op: Op) -> Way:
    return way(history, op.site, op.chain)


def meeting(history: History, of: Way, other: Way) -> int:
    """How many callers up the first way runs through a function that the other runs through, too; 0 where they
    meet in the line's own function, or nowhere."""
    theirs = {function_of(history, site) for site in other}
    return next((up for up, site in enumerate(of) if function_of(history, site) in theirs), 0)


def parting(history: History, of: Way, other: Way) -> int:
    """How many callers up the first way leaves the very call of a function that the other runs through, too; all of
    them where there is none such."""
    outside = {(function_of(history, site), other[down + 1 :]) for down, site in enumerate(other)}
    ups = (up for up, site in enumerate(of) if (function_of(history, site), of[up + 1 :]) in outside)
    return next(ups, len(of) - 1)


def used_in(history: History, use: Op, by: Op) -> Site:
    """The line of a use as the code sees it that made `by`: the call of a network, not a line in its forward."""
    path = way_of(history, use)
    return path[meeting(history, path, way_of(history, by))]


def helpers_behind(history: History, op: Op) -> Way:
    """The lines of helpers in which the graph of this value began: a network's forward, a method that asks it for
    others. Such a method may be the one that should have had gradients off."""
    live = history.graph.live_ancestors([op.nid])
    asking = [o for o in live.values() if any(map(params_of, history.graph.inputs(o)))]
    if not asking:
        return ()
    path = way_of(history, min(asking, key=lambda o: o.nid))
    return path[: meeting(history, path, way_of(history, op))]


def caller_apart(history: History, wrong: Way, right: Iterable[Way]) -> Site:
    """Of a way that goes wrong, the innermost line that it shares with no right way through the same helper: the
    caller to change. The line itself, where nobody does it right."""
    others = [way for way in right if way[0] == wrong[0] and way != wrong]
    for up in range(1, len(wrong) if others else 0):
        if all(way[: up + 1] != wrong[: up + 1] for way in others):
            return wrong[up]
    return wrong[0]


def apart_from(history: History, wrong: Op, right: Iterable[Op]) -> Site:
    """Where the way to a use leaves those on which the same line is used by right: the call of the network, or of a
    helper that others call, too. Nowhere, where nobody else uses the line."""
    path = way_of(history, wrong)
    site = caller_apart(history, path, [way_of(history, op) for op in right])
    return NOWHERE if site == path[0] else site


def caller_of(history: History, op: Op, is_right: Callable[[Op], bool]) -> Site:
    """As `caller_apart`, for an operation that others run on the same line and do so right."""
    path = way_of(history, op)
    if len(path) == 1:
        return op.site
    same = (o for o in history.graph.ops.values() if o.site == op.site and o.chain != op.chain)
    return caller_apart(
        history, path, [way_of(history, o) for o in same if o.name == op.name and is_right(o)]
    )


def optimizer_made_at(history: History, optimizer: Optimizer) -> Site:
    """The line that made an optimizer; of a factory that makes others, too, the line that called it for this one."""
    others = [o for o in history.optimizers.values() if o.site == optimizer.site and o is not optimizer]
    path = way(history, optimizer.site, optimizer.made_by)
    return caller_apart(history, path, [way(history, o.site, o.made_by) for o in others])


def cut_for(history: History, cut: Op) -> Site:
    """The line to change for a cut: where gradients were switched off, the cutting line, or whoever handed a graph to
    a helper that makes tensors of plain numbers for others, or the cut itself to one that runs what it is given."""
    if cut.facts.grad_off or cut.name not in NEW_TENSORS:
        return (NOWHERE if cut.facts.grad_off else named_by_caller(history, cut)) or culprit_of(cut)
    return caller_of(history, cut, lambda op: not history.graph.is_cut(op))


def cut_in(history: History, cut: Op, contribution: Contribution) -> Site:
    """As `cut_for`, for a cut that matters in this loss. Where a helper cuts what it is handed (`.detach()`, a sample)
    and others call it by right, whoever handed it in: right is a cut in the same loss that keeps nothing from
    learning, and a choice among values without a gradient."""
    site, path, graph = cut_for(history, cut), way_of(history, cut), history.graph
    value = _given(graph, cut)
    if site != cut.site or cut.live or value is None or not meeting(history, path, way_of(history, value)):
        return site
    wrong = {other.op.nid for other in contribution.cuts}
    within = graph.ancestors(root.nid for root in contribution.event.roots)

    def is_right(op: Op) -> bool:
        if graph.is_cut(op):
            return op.nid in within and op.nid not in wrong
        return is_choice(graph, op)

    return caller_of(history, cut, is_right)


def _given(graph: Provenance, op: Op) -> Op | None:
    """What came to the line of this operation with a gradient: what it did on the way (a distribution expands its
    parameters) is not asked about."""
    given: Op | None = op
    while given is not None and given.site == op.site and given.kind == "operation":
        given = next((source for source in graph.inputs(given) if source.live), None)
    return given


def handed_in(
    history: History, where: Op, value: Op, is_right: Callable[[Op], bool] = lambda op: not op.live
) -> Site:
    """The line to change where `where` goes wrong with `value`: the caller that handed it in, if the same line also
    serves others who do it right; else the line itself."""
    path = way_of(history, where)
    others = (op for op in history.graph.ops.values() if op.site == where.site and op.chain != where.chain)
    if len(path) == 1 or not any(op.name == where.name and is_right(op) for op in others):
        return where.site
    up = meeting(history, path, way_of(history, value))
    return path[up] if up else caller_of(history, where, is_right)


def is_one_function(history: History, one: Site, other: Site) -> bool:
    return function_of(history, one) == function_of(history, other)


def function_of(history: History, site: Site) -> tuple[str, str]:
    seen = history.sites.get(site)
    if seen is None:
        return "", str(site)
    if seen.function in COMPREHENSIONS:  # a frame of its own, in the function that it stands in
        return seen.file, function_at(seen.file, seen.line)
    return seen.file, seen.function
