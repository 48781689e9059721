"""Logarithms of a softmax in one stable step, and probabilities given as what they are."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.families.base import Case, Proposal, call_of, keyword, method, writes_to

LOG = ("log", "log_", "log1p")


def log_softmax(case: Case) -> Iterator[Proposal]:
    statement = case.culprit
    if statement is None:
        return
    for call in case.source.inside(statement, cst.Call):
        inner = _logged(call)
        if isinstance(inner, cst.Call) and method(inner) == "softmax":
            code = _renamed(case, inner)
            yield Proposal(case.change().replace(call, code), "take `log_softmax`")
        given = keyword(call, "logits")
        if given is not None:
            yield from _as_probabilities(case, given)
    yield from _through_a_name(case, statement)


def _as_probabilities(case: Case, given: cst.Arg) -> Iterator[Proposal]:
    """`Categorical(logits=softmax(x))` → `probs=`; it normalises them as they are."""
    name = given.with_changes(keyword=cst.Name("probs"))
    yield Proposal(case.change().turn(given, lambda _: name), "pass them as probabilities")


def _through_a_name(case: Case, statement: cst.SimpleStatementLine) -> Iterator[Proposal]:
    """`p = softmax(x)` and `log(p.gather(…))`: where `p` is used for nothing else."""
    for made in case.statements("softmax"):
        call, names = call_of(made), writes_to(made)
        if call is None or method(call) != "softmax" or len(names) != 1 or not isinstance(names[0], cst.Name):
            continue
        name = names[0].value
        function = case.source.function(made)
        uses = [n for n in case.source.inside(function, cst.Name) if n.value == name and n is not names[0]]
        logs = [c for c in case.source.inside(statement, cst.Call) if _chosen_from(_logged(c), name)]
        if len(uses) == 1 and len(logs) == 1:
            change = case.change().replace(call, _renamed(case, call))
            inner = _logged(logs[0])
            assert inner is not None
            yield Proposal(change.replace(logs[0], case.source.code(inner)), "take `log_softmax`")


def _logged(call: cst.CSTNode) -> cst.BaseExpression | None:
    """x of `torch.log(x)` or `x.log()`."""
    if not isinstance(call, cst.Call) or method(call) not in LOG or not isinstance(call.func, cst.Attribute):
        return None
    return call.args[0].value if call.args else call.func.value


def _chosen_from(node: cst.BaseExpression | None, name: str) -> bool:
    """The name itself, or elements of it."""
    if isinstance(node, cst.Name):
        return node.value == name
    if isinstance(node, cst.Subscript):
        return _chosen_from(node.value, name)
    if isinstance(node, cst.Call) and method(node) in ("gather", "squeeze", "unsqueeze", "view", "reshape"):
        return isinstance(node.func, cst.Attribute) and _chosen_from(node.func.value, name)
    return False


def _renamed(case: Case, call: cst.Call) -> str:
    """`torch.softmax(x, -1)`, `F.softmax(x, dim=1)`, `x.softmax(-1)`: the same with `log_softmax`."""
    assert isinstance(call.func, cst.Attribute | cst.Name)
    if isinstance(call.func, cst.Name):
        return f"log_softmax{case.source.code(call)[len('softmax') :]}"
    return case.source.code(call.with_changes(func=call.func.with_changes(attr=cst.Name("log_softmax"))))
