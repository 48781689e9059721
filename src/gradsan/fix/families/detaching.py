"""`.detach()` on what should have been a constant, or `with torch.no_grad():` around the line that makes it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.families.base import Case, Proposal, call_of, only, value_of, with_method, writes_to

NO_GRAD = "with torch.no_grad():"
DETACHED = "detach()"


def value(case: Case) -> Iterator[Proposal]:
    """The whole right-hand side of the culprit; where that is the loss as well, one part of it after the other."""
    statement = case.culprit
    small = only(statement)
    given = value_of(small)
    if statement is None or given is None or isinstance(given, cst.Tuple):
        return
    if isinstance(small, cst.Assign | cst.Return) and not _makes_the_loss(case):
        code = with_method(case.source, given, DETACHED)
        yield Proposal(case.change().replace(given, code), "detach it")
        if isinstance(small, cst.Assign):
            yield Proposal(case.change().within(statement, NO_GRAD), "compute it without gradient")
    for part in _parts(case, given):
        code = with_method(case.source, part, DETACHED)
        yield Proposal(case.change().replace(part, code), f"detach `{case.source.code(part)}`")


def weight(case: Case) -> Iterator[Proposal]:
    """What weighs a log-probability; where the same value is fitted as well, only the weight is a constant."""
    names = {case.source.code(t) for t in writes_to(case.culprit)} if case.culprit is not None else set()
    yield from value(case)
    for loss in case.statements("loss"):
        factors = [
            n
            for n in case.source.inside(loss, (cst.Name, cst.Attribute))
            if case.source.code(n) in names and _is_factor(case, n)
        ]
        if factors:
            change = case.change()
            for node in factors:
                change.replace(node, f"{case.source.code(node)}.detach()")
            yield Proposal(change, "detach it where it is a weight")


def _is_factor(case: Case, node: cst.CSTNode) -> bool:
    up = case.source.parent(node)
    return isinstance(up, cst.BinaryOperation) and isinstance(up.operator, cst.Multiply)


def target(case: Case) -> Iterator[Proposal]:
    """As `value`; but where prediction and target are the same network's, no gradient tells which of the two was
    detached. So of a line that makes both, only sums and products are: a prediction is neither."""
    for proposal in value(case):
        nodes = proposal.change.touched
        if any(isinstance(n, cst.BinaryOperation) for n in nodes) or _is_whole(case, nodes):
            yield proposal


def _is_whole(case: Case, nodes: list[cst.CSTNode]) -> bool:
    return any(n is case.culprit or n is value_of(only(case.culprit)) for n in nodes)


def use(case: Case) -> Iterator[Proposal]:
    """Nothing that the line computes is to be differentiated."""
    statement = case.culprit
    if statement is None or statement not in case.statements("use"):
        return
    if isinstance(only(statement), cst.Assign):
        yield Proposal(case.change().within(statement, NO_GRAD), "compute it without gradient")
    yield from value(case)


def write(case: Case) -> Iterator[Proposal]:
    """A weight is written by hand: that is no part of any graph."""
    if case.culprit is not None:
        yield Proposal(case.change().within(case.culprit, NO_GRAD), "write it without gradient")


def stored(case: Case) -> Iterator[Proposal]:
    """What is put away for later is put away without its graph."""
    for statement in dict.fromkeys(
        [case.culprit, *case.statements("stored", "stored with its graph", "kept")]
    ):
        small = only(statement)
        if isinstance(small, cst.Assign) and isinstance(small.value, cst.Tuple):
            yield from _each(case, [e.value for e in small.value.elements])
        elif isinstance(small, cst.Assign):
            code = with_method(case.source, small.value, DETACHED)
            yield Proposal(case.change().replace(small.value, code), "store it without its graph")
        elif (call := call_of(statement)) is not None:
            yield from _arguments(case, call)


def carried(case: Case) -> Iterator[Proposal]:
    """A running value: all of it, or what it was before (a recurrent state learns from the present step)."""
    statement = case.culprit
    small = only(statement)
    if statement is None or not isinstance(small, cst.Assign | cst.AugAssign):
        yield from stored(case)
        return
    given = small.value
    if not isinstance(given, cst.Tuple):
        code = with_method(case.source, given, DETACHED)
        yield Proposal(case.change().replace(given, code), "carry it on without its graph")
    if not isinstance(small, cst.Assign):
        return
    names = {case.source.code(target) for target in writes_to(statement)}
    inside = case.source.inside(given, (cst.Name, cst.Attribute))
    before = [n for n in inside if case.source.code(n) in names and not _is_compared(case, n)]
    if before:
        change = case.change()
        for node in before:
            change.replace(node, f"{case.source.code(node)}.detach()")
        yield Proposal(change, "detach what is carried over")


def _is_compared(case: Case, node: cst.CSTNode) -> bool:
    """`x is None`."""
    return isinstance(case.source.parent(node), cst.Comparison | cst.ComparisonTarget)


def _arguments(case: Case, call: cst.Call) -> Iterator[Proposal]:
    yield from _each(case, [n for arg in call.args for n in _stored_parts(arg.value)])


def _each(case: Case, given: list[cst.BaseExpression]) -> Iterator[Proposal]:
    """All of them, then each alone."""
    if len(given) > 1:
        change = case.change()
        for node in given:
            change.replace(node, with_method(case.source, node, DETACHED))
        yield Proposal(change, "store them without their graphs")
    for node in given:
        code = with_method(case.source, node, DETACHED)
        yield Proposal(
            case.change().replace(node, code), f"store `{case.source.code(node)}` without its graph"
        )


def _stored_parts(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(node, cst.Tuple | cst.List):
        for element in node.elements:
            yield from _stored_parts(element.value)
    elif isinstance(node, cst.Dict):
        for entry in node.elements:
            yield from _stored_parts(entry.value)
    elif isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value[:1].isupper():
        for arg in node.args:
            yield from _stored_parts(arg.value)
    elif isinstance(node, cst.Name | cst.Attribute | cst.Call | cst.BinaryOperation):
        yield node


def _parts(case: Case, given: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Calls and names that are summands, factors or arguments of the expression, the larger ones first."""
    kinds = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.BinaryOperation)
    seen: set[str] = set()
    for node in case.source.inside(given, kinds):
        code = case.source.code(node)
        if node is given or code in seen or not _is_operand(case, node):
            continue
        seen.add(code)
        yield node


def _is_operand(case: Case, node: cst.CSTNode) -> bool:
    """Not a function's own name, and not what a method is called on."""
    up = case.source.parent(node)
    if isinstance(up, cst.BinaryOperation):
        return True
    return isinstance(up, cst.Arg)


def _makes_the_loss(case: Case) -> bool:
    """Prediction and target on one line: detached as a whole, nothing would be left to learn from."""
    where = case.finding.culprit
    return any(site.role in ("loss", "cancels") and site.location == where for site in case.finding.sites)
