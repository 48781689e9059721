"""What a family of repairs is given, what it gives, and what most of them ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import libcst as cst

from gradsan.fix.source import Change, Source
from gradsan.judge.report.findings import Finding

ATOMS = (cst.Call, cst.Name, cst.Attribute, cst.Subscript)


@dataclass(frozen=True)
class Proposal:
    """`what` is said as an order: "detach the target"."""

    change: Change
    what: str


@dataclass(frozen=True)
class Case:
    finding: Finding
    source: Source

    @property
    def line(self) -> int:
        assert self.finding.culprit is not None
        return self.finding.culprit.line

    @property
    def culprit(self) -> cst.SimpleStatementLine | None:
        return self.source.statement(self.line)

    def lines(self, *roles: str) -> list[int]:
        """Of the sites with one of these roles, in this file."""
        where = self.finding.culprit
        return [
            site.location.line
            for site in self.finding.sites
            if site.role in roles and where is not None and site.location.file == where.file
        ]

    def statements(self, *roles: str) -> list[cst.SimpleStatementLine]:
        """The statements that these roles name, each once."""
        found = (self.source.statement(line) for line in self.lines(*roles))
        return list(dict.fromkeys(statement for statement in found if statement is not None))

    def change(self) -> Change:
        return self.source.change()


def only(statement: cst.CSTNode | None) -> cst.BaseSmallStatement | None:
    """What the line does, where it does one thing."""
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        return statement.body[0]
    return None


def value_of(small: cst.CSTNode | None) -> cst.BaseExpression | None:
    """The right-hand side, what is returned, or the expression that the statement is."""
    if isinstance(small, cst.Assign | cst.Return | cst.Expr | cst.AugAssign | cst.AnnAssign):
        return small.value
    return None


def call_of(statement: cst.CSTNode | None) -> cst.Call | None:
    """The call, where the line is one and nothing else (its result may be bound to a name)."""
    value = value_of(only(statement))
    return value if isinstance(value, cst.Call) else None


def method(call: cst.CSTNode | None) -> str:
    """The name that is called: `step` of `self.opt.step()`."""
    func = call.func if isinstance(call, cst.Call) else None
    if isinstance(func, cst.Attribute):
        return func.attr.value
    return func.value if isinstance(func, cst.Name) else ""


def receiver(source: Source, call: cst.CSTNode | None) -> str:
    """What the method is called on, as it is written; empty where it is no method."""
    func = call.func if isinstance(call, cst.Call) else None
    return source.code(func.value) if isinstance(func, cst.Attribute) else ""


def with_method(source: Source, value: cst.BaseExpression, call: str) -> str:
    """`value.call`, in parentheses where it needs them and has none."""
    code = source.code(value)
    if isinstance(value, ATOMS) or value.lpar:
        return f"{code}.{call}"
    return f"({code}).{call}"


def keyword(call: cst.Call, name: str) -> cst.Arg | None:
    return next((a for a in call.args if a.keyword is not None and a.keyword.value == name), None)


def argument(call: cst.Call, index: int, name: str = "") -> Any:
    """The expression given as the nth argument, or by this name; None where it is not given."""
    if name and (given := keyword(call, name)) is not None:
        return given.value
    plain = [a for a in call.args if a.keyword is None and not a.star]
    return plain[index].value if index < len(plain) else None


def writes_to(statement: cst.CSTNode) -> list[cst.BaseExpression]:
    """The targets of an assignment, those of a tuple one by one."""
    small = only(statement)
    if isinstance(small, cst.AnnAssign | cst.AugAssign):
        return [small.target]
    if not isinstance(small, cst.Assign):
        return []
    found: list[cst.BaseExpression] = []
    for target in small.targets:
        inner = target.target
        if isinstance(inner, cst.Tuple | cst.List):
            found.extend(element.value for element in inner.elements)
        else:
            found.append(inner)
    return found
