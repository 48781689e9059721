"""Steps, backwards and what is computed once: the right thing at the wrong moment."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.families.base import Case, Proposal, call_of, method, writes_to


def step_last(case: Case) -> Iterator[Proposal]:
    """A step that comes before the backward it needs, or before one that needs the weights as they were."""
    step = case.culprit
    if step is None or method(call_of(step)) != "step":
        return
    beside = case.source.beside(step)
    at = beside.index(step)
    named = [s for s in case.statements("backward") if s in beside[at + 1 :]]
    following = [s for s in beside[at + 1 :] if method(call_of(s)) == "backward"]
    for backward in dict.fromkeys([*named, *following[:1]]):
        yield Proposal(case.change().move_after(step, backward), "step after the backward")


def forward_later(case: Case) -> Iterator[Proposal]:
    """A loss that was computed too early is computed when the step is done."""
    step = case.culprit
    if step is None or method(call_of(step)) != "step":
        return
    beside = case.source.beside(step)
    for forward in case.statements("forward"):
        if forward not in beside or beside.index(forward) > beside.index(step):
            continue
        between = beside[beside.index(forward) + 1 : beside.index(step) + 1]
        made = {case.source.code(target) for target in writes_to(forward)}
        if made and not made & {name for s in between for name in _names(case, s)}:
            yield Proposal(case.change().move_after(forward, step), "compute it after the step")


def after_backward(case: Case) -> Iterator[Proposal]:
    """A weight that is written by hand while a graph still needs it is written when backward is done."""
    write = case.culprit
    for backward in case.statements("backward"):
        if write is not None and write is not backward and backward in case.source.beside(write):
            yield Proposal(case.change().move_after(write, backward), "write it after the backward")


def out_of_the_loop(case: Case) -> Iterator[Proposal]:
    """What belongs to the data that were collected is computed once, before the epochs over them."""
    statement = case.culprit
    if statement is None:
        return
    loop = case.source.parent(case.source.block(statement) or statement)
    if not isinstance(loop, cst.For | cst.While) or len(case.source.beside(statement)) < 2:
        return
    if _names(case, statement) & _bound_in(case, loop, statement):
        return
    code = case.source.code(statement).strip()
    change = case.change().before(loop, code).remove(statement)
    yield Proposal(change, "compute it once, before the loop")


def keep_graph(case: Case) -> Iterator[Proposal]:
    """Two losses share a part of their graph, and both are differentiated: the first backward must keep it."""
    first, second = case.statements("first backward"), case.statements("backward")
    if len(first) != 1 or len(second) != 1 or first[0] is second[0]:
        return
    call = call_of(first[0])
    if call is not None and method(call) == "backward" and second[0] in case.source.beside(first[0]):
        keep = cst.Arg(keyword=cst.Name("retain_graph"), value=cst.Name("True"), equal=_tight())
        new = call.with_changes(args=[*call.args, keep])
        yield Proposal(case.change().turn(call, lambda _: new), "keep the graph that both losses share")


def forget_graph(case: Case) -> Iterator[Proposal]:
    call = call_of(case.culprit)
    if call is None:
        return
    kept = [a for a in call.args if a.keyword is None or a.keyword.value != "retain_graph"]
    if len(kept) < len(call.args):
        kept = [*kept[:-1], kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)] if kept else []
        new = call.with_changes(args=kept)
        yield Proposal(case.change().turn(call, lambda _: new), "let the graph go")


def _tight() -> cst.AssignEqual:
    none = cst.SimpleWhitespace("")
    return cst.AssignEqual(whitespace_before=none, whitespace_after=none)


def _names(case: Case, node: cst.CSTNode) -> set[str]:
    return {n.value for n in case.source.inside(node, cst.Name)}


def _bound_in(case: Case, loop: cst.CSTNode, besides: cst.CSTNode) -> set[str]:
    """Names that the loop itself gives values to."""
    found: set[str] = set()
    if isinstance(loop, cst.For):
        found |= _names(case, loop.target)
    for statement in case.source.inside(loop, cst.SimpleStatementLine):
        if statement is not besides:
            found |= {t.value for t in writes_to(statement) if isinstance(t, cst.Name)}
    return found
