"""What cuts a graph where it should go on: taken out, or replaced by what keeps it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.families.base import (
    ATOMS,
    Case,
    Proposal,
    argument,
    keyword,
    method,
    only,
    value_of,
    writes_to,
)

LEAVING = ("detach", "tolist", "numpy", "requires_grad_")
NUMBERS = ("item",)
NEW_TENSOR = ("tensor", "as_tensor", "FloatTensor", "Tensor", "asarray", "DoubleTensor")
OFF = ("no_grad", "inference_mode")


def uncut(case: Case) -> Iterator[Proposal]:
    yield from _header(case)
    statement = case.culprit
    if statement is None:
        return
    yield from _stacked(case, statement)
    yield from _graph_kept(case, statement)
    yield from _switched_off(case, statement)
    yield from _values_kept(case, statement)


def _header(case: Case) -> Iterator[Proposal]:
    """`with torch.no_grad():` or its decorator, on the culprit's own line."""
    for decorator in case.source.all(cst.Decorator):
        if case.line in range(*_lines(case, decorator)) and _last_name(decorator.decorator) in OFF:
            change = case.change().turn(decorator, lambda _: cst.RemoveFromParent())
            yield Proposal(change, "let gradient through")
    for item in case.source.all(cst.WithItem):
        if case.line in range(*_lines(case, item)) and _last_name(item.item) in OFF:
            change = case.change().replace(item.item, "torch.enable_grad()")
            yield Proposal(change, "let gradient through")


def _stacked(case: Case, statement: cst.CSTNode) -> Iterator[Proposal]:
    """`torch.tensor(list of tensors)` → `torch.stack(list)`."""
    for call in case.source.inside(statement, cst.Call):
        given = argument(call, 0, "data")
        if method(call) not in NEW_TENSOR or given is None:
            continue
        code = _elements(case, given)
        whole = isinstance(given, cst.Call) and method(given) == "tolist"  # a tensor, and no list of them
        if whole and code in [case.source.code(target) for target in writes_to(statement)]:
            yield Proposal(case.change().remove(statement), "keep it as it is")
        for form in [code] if whole else [f"torch.stack({code})", f"torch.stack({code}).squeeze(-1)"]:
            yield Proposal(case.change().replace(call, form), "keep the graph of what is collected")


def _graph_kept(case: Case, statement: cst.CSTNode) -> Iterator[Proposal]:
    """A gradient that is differentiated once more."""
    for call in case.source.inside(statement, cst.Call):
        if method(call) == "grad" and keyword(call, "create_graph") is None and len(call.args) >= 2:
            code = case.source.code(call).rstrip()
            inner = code[:-1].rstrip().rstrip(",")
            yield Proposal(
                case.change().replace(call, f"{inner}, create_graph=True)"), "keep the graph of the gradient"
            )


def _switched_off(case: Case, statement: cst.CSTNode) -> Iterator[Proposal]:
    alone = len(case.source.beside(statement)) < 2
    for call in case.source.inside(statement, cst.Call):
        given = argument(call, 0, "mode")
        off = method(call) == "set_grad_enabled" and given is not None and case.source.code(given) == "False"
        if off and not alone:
            yield Proposal(case.change().remove(statement), "leave gradients on")


def _values_kept(case: Case, statement: cst.SimpleStatementLine) -> Iterator[Proposal]:
    """Without `.detach()`, `.data`, `.item()`; and what they are put together by again keeps the graph."""
    value = value_of(only(statement))
    if value is None:
        return
    new = value.visit(_Uncut())
    assert isinstance(new, cst.BaseExpression)
    code = case.source.code(new)
    if code == case.source.code(value):
        return
    both = case.change().replace(value, code)
    again = [call for entry in case.statements("re-entry") for call in _new_tensors(case, entry)]
    for call, given in again:
        both.replace(call, f"torch.stack({_elements(case, given)})")
    if again:
        yield Proposal(both, "keep the values as tensors")
    yield Proposal(case.change().replace(value, code), "let gradient through")


def _new_tensors(case: Case, statement: cst.CSTNode) -> Iterator[tuple[cst.Call, cst.BaseExpression]]:
    for call in case.source.inside(statement, cst.Call):
        given = argument(call, 0, "data")
        inner = any(isinstance(up, cst.Call) and method(up) in NEW_TENSOR for up in case.source.above(call))
        if method(call) in NEW_TENSOR and given is not None and not inner:
            yield call, given


class _Uncut(cst.CSTTransformer):
    """The same expression without what takes a tensor out of its graph."""

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        kept = _kept(updated_node)
        if kept is None:
            return updated_node
        if method(updated_node) not in (*NUMBERS, "float"):
            return kept
        plain = isinstance(kept, ATOMS) or kept.lpar
        inner = kept if plain else kept.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        return cst.Call(cst.Attribute(inner, cst.Name("squeeze")))

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        return updated_node.value if updated_node.attr.value == "data" else updated_node


def _kept(node: cst.CSTNode) -> cst.BaseExpression | None:
    """The tensor that the call takes out of its graph; None where it does not."""
    if not isinstance(node, cst.Call):
        return None
    if isinstance(node.func, cst.Name) and node.func.value == "float" and len(node.args) == 1:
        return node.args[0].value
    if isinstance(node.func, cst.Attribute) and node.func.attr.value in (*LEAVING, *NUMBERS):
        return node.func.value
    return None


def _elements(case: Case, given: cst.BaseExpression) -> str:
    """What `torch.stack` is given: the list, without what takes its elements out of their graphs."""
    if isinstance(given, cst.Call) and method(given) in ("array", "stack") and given.args:
        return _elements(case, given.args[0].value)
    if isinstance(given, cst.Call) and method(given) == "tolist" and isinstance(given.func, cst.Attribute):
        return case.source.code(given.func.value)
    if isinstance(given, cst.ListComp | cst.GeneratorExp):
        kept = _kept(given.elt)
        clause = given.for_in
        plain = clause.inner_for_in is None and not clause.ifs
        if kept is not None and plain and case.source.code(kept) == case.source.code(clause.target):
            return case.source.code(clause.iter)
        if isinstance(given.elt, cst.List):  # rows of rows
            row = case.source.expression(f"torch.stack({case.source.code(given.elt)})")
            return case.source.code(given.with_changes(elt=row))
    return case.source.code(given)


def _last_name(node: cst.CSTNode) -> str:
    node = node.func if isinstance(node, cst.Call) else node
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""


def _lines(case: Case, node: cst.CSTNode) -> tuple[int, int]:
    first, last = case.source.lines_of(node)
    return first, last + 1
