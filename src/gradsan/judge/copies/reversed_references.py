"""Preferences whose reference stands on the wrong side: `(chosen - rejected) - (ref_rejected - ref_chosen)`, or with a
plus. Which of the reference's scores belongs to which of the policy's is told by what both were given; every one of
them is to be subtracted from its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge import flow
from gradsan.judge.flow import Term
from gradsan.judge.lines.callers import way_of
from gradsan.judge.lines.permuted_arguments import call_that_permutes
from gradsan.judge.missing.preferences import LOGISTIC
from gradsan.judge.objective import scores
from gradsan.judge.objective.same_policy import given
from gradsan.record.events import Op, ParamId, Site, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History


class Reversed(NamedTuple):
    """`met`: where the policy's scores and the reference's come together; `reference`: the latter."""

    site: Site
    met: Op
    reference: Op
    preference: Op
    learned: set[ParamId]


def reversed_references(history: History, roots: list[ValueId]) -> Iterator[Reversed]:
    graph = history.graph
    for preference in graph.named(graph.live_ancestors(roots), LOGISTIC):
        margin = next(graph.inputs(preference), None)
        terms = flow.terms(graph, margin, reshape=False) if margin is not None and margin.live else []
        live = [term for term in terms if term.op.live]
        constant = [part for term in terms if not term.op.live for part in flow.constant_terms(graph, term)]
        said = [flow.inner(graph, term) for term in constant if graph.value_params([term.op.nid])]
        if len(live) != 2 or len(said) != 2 or live[0].sign == live[1].sign:
            continue
        learned = graph.live_params([term.op.nid for term in live])
        pairs = _pairs(history, live, said)
        if (
            len(pairs) == 2
            and all(a.sign == b.sign for a, b in pairs)
            and _are_copies(history, said, learned)
        ):
            yield _found(history, preference, said[0].op, learned)


def _pairs(history: History, live: list[Term], said: list[Term]) -> list[tuple[Term, Term]]:
    """Scores of the same answers: what only one of the policy's was given tells which of the reference's is its own."""
    data = [set(given(scores.scoring(history.graph, term.op))) for term in (*live, *said)]
    own = data[0] - data[1], data[1] - data[0]
    found = list[tuple[Term, Term]]()
    for term, known in zip(said, data[2:], strict=True):
        of = [side for side, only in zip(live, own, strict=True) if known & only]
        if len(of) == 1 and of[0].scaled == term.scaled:
            found.append((of[0], term))
    return found if len({id(side) for side, _ in found}) == 2 else []


def _are_copies(history: History, said: list[Term], learned: set[ParamId]) -> bool:
    copies = history.networks.copies
    read = {pid for term in said for pid in scores.reads(history, scores.scoring(history.graph, term.op))}
    return bool(read) and all(
        pid in learned or (pid in copies and copies[pid].source in learned) for pid in read
    )


def _found(history: History, preference: Op, reference: Op, learned: set[ParamId]) -> Reversed:
    """The last line in which they meet; or who gives a function its arguments in another order than it names them."""
    graph = history.graph
    behind = graph.live_ancestors([preference.nid]).values()
    after = graph.descendants([reference.nid], graph.ancestors([preference.nid]))
    met = min((op for op in behind if op.nid in after), key=lambda op: op.nid)
    way = way_of(history, met)
    return Reversed(call_that_permutes(history, way) or met.site, met, reference, preference, learned)
