"""Which repairs each rule has. One file per family; importing this loads LibCST."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gradsan.fix.families import (
    calls,
    clearing,
    clips,
    cuts,
    detaching,
    finite,
    inplace,
    logs,
    optimizers,
    ordering,
    sampling,
    shapes,
    signs,
    targets,
)
from gradsan.fix.families.base import Case, Proposal
from gradsan.fix.source import Source
from gradsan.judge.report.findings import Finding

Family = Callable[[Case], Iterator[Proposal]]

FAMILIES: dict[str, tuple[Family, ...]] = {
    "GS101": (inplace.functional,),
    "GS102": (ordering.forward_later, ordering.step_last, detaching.carried),
    "GS103": (detaching.write,),
    "GS104": (inplace.copied, ordering.after_backward),
    "GS105": (detaching.stored,),
    "GS201": (cuts.uncut,),
    "GS202": (cuts.uncut,),
    "GS203": (sampling.reparameterised,),
    "GS205": (optimizers.owned, optimizers.complete),
    "GS206": (optimizers.renewed, optimizers.live),
    "GS208": (calls.huber,),
    "GS209": (detaching.target,),
    "GS210": (calls.not_reentrant,),
    "GS301": (detaching.target,),
    "GS302": (detaching.use, optimizers.without),
    "GS303": (detaching.weight,),
    "GS304": (calls.clone_of_gradient, clearing.before_backward, detaching.value),
    "GS305": (detaching.carried,),
    "GS306": (targets.copied,),
    "GS307": (targets.written,),
    "GS401": (clearing.before_backward,),
    "GS402": (ordering.keep_graph, detaching.stored),
    "GS403": (shapes.reduced,),
    "GS404": (ordering.step_last,),
    "GS405": (clearing.moved,),
    "GS406": (ordering.forget_graph,),
    "GS503": (finite.away_from_the_edge,),
    "GS504": (clips.moved, clips.stepped),
    "GS505": (clips.stepped,),
    "GS506": (clips.in_place,),
    "GS507": (clips.unscaled,),
    "GS601": (shapes.of_one_shape,),
    "GS602": (logs.log_softmax,),
    "GS603": (shapes.summed,),
    "GS801": (signs.objective,),
    "GS802": (signs.entropy,),
    "GS804": (ordering.out_of_the_loop,),
    "GS809": (targets.turned_round,),
}


def proposals(finding: Finding, source: Source) -> Iterator[Proposal]:
    """In the order of the families: the change that is most often right comes first."""
    case = Case(finding, source)
    for family in FAMILIES.get(finding.rule, ()):
        try:
            yield from family(case)
        except Exception:  # code of a form that nobody thought of: no repair, and the others are still tried
            continue
