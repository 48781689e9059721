"""Values that a network hands to a helper which runs without gradients, such as a cache's `update`, and takes back: the
very next layer sees a constant. Where the first call hands back what it was given, its parameters learn by that, and
nothing seems to be missing."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.flow import LAID_TOGETHER
from gradsan.judge.provenance import Provenance, params_of
from gradsan.record.events import Op, ParamId, Site, ValueId

Values = dict[ValueId, Op]


def passed_through(
    graph: Provenance, roots: list[ValueId], trained: set[ParamId]
) -> Iterator[tuple[Op, set[ParamId]]]:
    """A join under `no_grad` of live values that nobody else uses, which goes on to where the same line is given live
    values of the same parameters in another call. A memory of earlier windows joins what was used live as well, and a
    state that is cut off comes out of the layers that it goes into."""
    within, live = graph.ancestors(roots), graph.live_ancestors(roots)
    joins = [op for op in graph.named(within, LAID_TOGETHER) if "no_grad" in op.tags and graph.is_cut(op)]
    for join in joins:
        lost = [
            i for i in graph.inputs(join) if i.live and i.floating and not params_of(i) and i.nid not in live
        ]
        pids = graph.live_params([i.nid for i in lost]) & trained
        if not pids:
            continue
        behind = {op.site for op in graph.live_ancestors([i.nid for i in lost]).values()}
        uses = [op for op in _first_uses(graph, join, within) if op.site not in behind]
        if any(_is_live_elsewhere(graph, op, join, pids, live) for op in uses):
            yield join, pids


def _first_uses(graph: Provenance, cut: Op, within: Values) -> list[Op]:
    """The live values that are made of this constant, or of what is made of it alone."""
    stack, seen, found = [cut.nid], {cut.nid}, list[Op]()
    while stack:
        for nid in graph.consumers.get(stack.pop(), ()):
            if nid in seen or nid not in within:
                continue
            seen.add(nid)
            if within[nid].live:
                found.append(within[nid])
            else:
                stack.append(nid)
    return found


def _is_live_elsewhere(graph: Provenance, use: Op, cut: Op, pids: set[ParamId], live: Values) -> bool:
    """Whether the same operation of the same line has, in another call, a live value in the place of the constant."""
    places = [n for n, nid in enumerate(use.inputs) if cut.nid in graph.ancestors([nid])]
    twins = (op for op in live.values() if op.nid != use.nid and _is_same(op, use))
    return any(
        (nid := twin.inputs[n]) in live and graph.live_params([nid]) & pids for twin in twins for n in places
    )


def _is_same(one: Op, other: Op) -> bool:
    def of(op: Op) -> tuple[Site, str, int]:
        return op.site, op.name, len(op.inputs)

    return of(one) == of(other)
