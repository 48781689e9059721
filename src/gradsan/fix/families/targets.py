"""Target networks: copies instead of second names, and syncs in the right direction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from gradsan.fix.families.base import Case, Proposal, call_of, method, only
from gradsan.fix.source import Change


def copied(case: Case) -> Iterator[Proposal]:
    """`target = online` → a deep copy; the same for what shares memory in other ways."""
    statement = case.culprit
    small = only(statement)
    if statement is None:
        return
    target = small.targets[0].target if isinstance(small, cst.Assign) else None
    if isinstance(small, cst.Assign) and isinstance(target, cst.Attribute) and target.attr.value == "data":
        new = case.source.new_statement(f"{case.source.code(target)}.copy_({case.source.code(small.value)})")
        yield Proposal(case.change().turn(small, lambda _: new.body[0]), "copy the values")
    for call in case.source.inside(statement, cst.Call):
        if case.source.code(call.func) == "copy.copy":
            change = case.change().replace(call.func, "copy.deepcopy")
            yield Proposal(change, "copy the parameters, too")
        elif method(call) == "detach":
            change = case.change().replace(call, f"{case.source.code(call)}.clone()")
            yield Proposal(change, "copy the values")
    if isinstance(small, cst.Assign) and isinstance(small.value, cst.Name | cst.Attribute | cst.Call):
        owner = _network(case, small.value)
        if owner is not None:
            change = case.change().replace(small.value, f"copy.deepcopy({case.source.code(owner)})")
            yield Proposal(_importing(case, change), "make the target a copy")


def turned_round(case: Case) -> Iterator[Proposal]:
    """The target is written from the online network."""
    for statement in dict.fromkeys([case.culprit, *case.statements("caller")]):
        call = call_of(statement)
        if call is None:
            continue
        if method(call) == "load_state_dict" and isinstance(call.func, cst.Attribute):
            yield from _loaded(case, call)
        elif len(call.args) >= 2 and all(
            isinstance(a.value, cst.Name | cst.Attribute) for a in call.args[:2]
        ):
            first, second = call.args[0].value, call.args[1].value
            change = (
                case.change()
                .replace(first, case.source.code(second))
                .replace(second, case.source.code(first))
            )
            yield Proposal(change, "write the target from the online network")
    yield from _weights_exchanged(case)


def written(case: Case) -> Iterator[Proposal]:
    """A sync that gives a new value to a name, and writes to no network."""
    statement = case.culprit
    small = only(statement)
    if (
        statement not in case.statements("sync")
        or not isinstance(small, cst.Assign)
        or len(small.targets) != 1
    ):
        return
    target = small.targets[0].target
    if isinstance(target, cst.Name):
        code = f"{target.value}.data.copy_({case.source.code(small.value)})"
        new = case.source.new_statement(code)
        yield Proposal(case.change().turn(small, lambda _: new.body[0]), "write it to the target")


def _loaded(case: Case, call: cst.Call) -> Iterator[Proposal]:
    """`a.load_state_dict(b.state_dict())`, with a and b exchanged."""
    given = call.args[0].value if call.args else None
    if not isinstance(call.func, cst.Attribute) or not isinstance(given, cst.Call):
        return
    if method(given) != "state_dict" or not isinstance(given.func, cst.Attribute):
        return
    mine, theirs = case.source.code(call.func.value), case.source.code(given.func.value)
    if mine != theirs:
        change = case.change().replace(call.func.value, theirs).replace(given.func.value, mine)
        yield Proposal(change, "write the target from the online network")


def _weights_exchanged(case: Case) -> Iterator[Proposal]:
    """`tau * t + (1 - tau) * p` → `tau * p + (1 - tau) * t`."""
    statement = case.culprit
    for node in case.source.inside(statement, cst.BinaryOperation) if statement is not None else ():
        left, right = node.left, node.right
        if not isinstance(node.operator, cst.Add):
            continue
        if isinstance(left, cst.BinaryOperation) and isinstance(right, cst.BinaryOperation):
            pairs = [(left.right, right.right), (left.left, right.left)]
            for one, other in pairs:
                change = (
                    case.change().replace(one, case.source.code(other)).replace(other, case.source.code(one))
                )
                yield Proposal(change, "give the small weight to the online network")


def _network(case: Case, value: cst.BaseExpression) -> cst.BaseExpression | None:
    """What is aliased: a name, or the module whose parts are given to another container."""
    if isinstance(value, cst.Name | cst.Attribute):
        return value
    for call in case.source.inside(value, cst.Call):
        if method(call) in ("children", "modules", "values") and isinstance(call.func, cst.Attribute):
            return call.func.value
    return None


def _importing(case: Case, change: Change) -> Change:
    """With `import copy`, where the file has none, before the first import of its own."""
    imports: list[Any] = [
        s for s in case.source.module.body if isinstance(only(s), cst.Import | cst.ImportFrom)
    ]
    names = [a.name for s in imports if isinstance(i := only(s), cst.Import) for a in i.names]
    if any(isinstance(n, cst.Name) and n.value == "copy" for n in names):
        return change
    plain = [s for s in imports if not _is_future(s)]
    return change.before(plain[0], "import copy") if plain else change


def _is_future(statement: cst.CSTNode) -> bool:
    small = only(statement)
    return (
        isinstance(small, cst.ImportFrom)
        and isinstance(small.module, cst.Name)
        and small.module.value == "__future__"
    )
