"""A file as a concrete syntax tree: statements by their line, and changes that leave everything else as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, ParentNodeProvider, PositionProvider

Kinds = type[cst.CSTNode] | tuple[type[cst.CSTNode], ...]


class Unparsable(Exception):
    """The file is no Python that could be written back bit for bit. The message is for the user."""


class Source:
    def __init__(self, data: bytes) -> None:
        self.data = data
        try:
            module = cst.parse_module(data)
        except (cst.ParserSyntaxError, SyntaxError, ValueError, LookupError) as error:
            raise Unparsable("its source cannot be parsed") from error
        if module.bytes != data:
            raise Unparsable("its source cannot be written back unchanged")
        wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
        self.module = module
        self._positions: Any = wrapper.resolve(PositionProvider)
        self._parents: Any = wrapper.resolve(ParentNodeProvider)
        self._statements: dict[int, cst.SimpleStatementLine] = {}
        for statement in self.all(cst.SimpleStatementLine):
            first, last = self.lines_of(statement)
            self._statements.update(dict.fromkeys(range(first, last + 1), statement))

    # -- where things are -------------------------------------------------------------------------------

    def lines_of(self, node: cst.CSTNode) -> tuple[int, int]:
        """First and last line, comments above not counted."""
        where: CodeRange = self._positions[node]
        return where.start.line, where.end.line

    def column(self, node: cst.CSTNode) -> int:
        return int(self._positions[node].start.column)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self._parents.get(node)  # type: ignore[no-any-return]

    def above(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        while (up := self.parent(node)) is not None:
            yield up
            node = up

    def all(self, kind: Kinds) -> list[Any]:
        """In the order of the text."""
        return self.inside(self.module, kind)

    def inside(self, outer: cst.CSTNode, kind: Kinds) -> list[Any]:
        """The nodes of this kind in `outer`, the outer one counted, in the order of the text."""
        return [node for node in _walk(outer) if isinstance(node, kind)]

    def statement(self, line: int) -> cst.SimpleStatementLine | None:
        """The simple statement that this line is, or is a part of."""
        return self._statements.get(line)

    def block(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """What the statement stands in directly, side by side with others."""
        return next((n for n in self.above(node) if isinstance(n, cst.IndentedBlock | cst.Module)), None)

    def beside(self, statement: cst.CSTNode) -> list[cst.CSTNode]:
        """The statements of its block, itself among them."""
        block = self.block(statement)
        return list(block.body) if isinstance(block, cst.IndentedBlock | cst.Module) else []

    def function(self, node: cst.CSTNode) -> cst.CSTNode:
        """The innermost function around it, or the module."""
        around = (n for n in self.above(node) if isinstance(n, cst.FunctionDef | cst.Module))
        return next(around, self.module)

    def class_around(self, node: cst.CSTNode) -> cst.ClassDef | None:
        return next((n for n in self.above(node) if isinstance(n, cst.ClassDef)), None)

    def code(self, node: cst.CSTNode) -> str:
        return self.module.code_for_node(node)

    # -- new code -----------------------------------------------------------------------------------------

    def expression(self, code: str) -> cst.BaseExpression:
        return cst.parse_expression(code, config=self.module.config_for_parsing)

    def new_statement(self, code: str) -> Any:
        return cst.parse_statement(code, config=self.module.config_for_parsing)

    def change(self) -> Change:
        return Change(self)


def _walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


class Change:
    """What is to become of some nodes; `result` is the whole file with it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._becomes: dict[cst.CSTNode, Callable[[Any], Any]] = {}
        self._before: dict[cst.CSTNode, list[Any]] = {}
        self._after: dict[cst.CSTNode, list[Any]] = {}

    def replace(self, node: cst.CSTNode, code: str) -> Change:
        new = self._source.expression(code)
        self._becomes[node] = lambda _: new
        return self

    def turn(self, node: cst.CSTNode, into: Callable[[Any], Any]) -> Change:
        self._becomes[node] = into
        return self

    def remove(self, statement: cst.CSTNode) -> Change:
        self._becomes[statement] = lambda _: cst.RemoveFromParent()
        return self

    def before(self, statement: cst.CSTNode, *codes: str) -> Change:
        new = [self._source.new_statement(code) for code in codes]
        self._before.setdefault(statement, []).extend(new)
        return self

    def after(self, statement: cst.CSTNode, *codes: str) -> Change:
        new = [self._source.new_statement(code) for code in codes]
        self._after.setdefault(statement, []).extend(new)
        return self

    def move_before(self, statement: Any, other: cst.CSTNode) -> Change:
        self._before.setdefault(other, []).append(statement)
        return self.remove(statement)

    def move_after(self, statement: Any, other: cst.CSTNode) -> Change:
        self._after.setdefault(other, []).append(statement)
        return self.remove(statement)

    def within(self, statement: cst.SimpleStatementLine, header: str) -> Change:
        """The statement below a `with` of its own; what is written above it stays there."""

        def put(updated: Any) -> Any:
            block: Any = self._source.new_statement(f"{header}\n    pass")
            inner = updated.with_changes(leading_lines=())
            return block.with_changes(
                leading_lines=updated.leading_lines, body=block.body.with_changes(body=(inner,))
            )

        return self.turn(statement, put)

    def becomes(self, node: cst.CSTNode) -> Callable[[Any], Any]:
        return self._becomes[node]

    @property
    def touched(self) -> list[cst.CSTNode]:
        """What is there and will be another, elsewhere or gone."""
        return list(self._becomes)

    def result(self) -> bytes:
        changed = self._source.module.visit(_Transformer(self._becomes, self._before, self._after))
        return changed.bytes


class _Transformer(cst.CSTTransformer):
    def __init__(
        self,
        becomes: dict[Any, Callable[[Any], Any]],
        before: dict[Any, list[Any]],
        after: dict[Any, list[Any]],
    ) -> None:
        super().__init__()
        self._becomes, self._before, self._after = becomes, before, after

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        updated = super().on_leave(original_node, updated_node)
        before, after = self._before.get(original_node, []), self._after.get(original_node, [])
        if original_node in self._becomes:
            updated = self._becomes[original_node](updated)
        if not before and not after:
            return updated
        rest = [] if isinstance(updated, cst.RemovalSentinel) else [updated]
        return cst.FlattenSentinel([*_below_comments(before, rest), *after])


def _below_comments(before: list[Any], rest: list[Any]) -> Iterable[Any]:
    """A comment above a statement stays where it is; what is put before the statement goes below it."""
    if not before or not rest:
        return [*before, *rest]
    above = rest[0].leading_lines
    first = before[0].with_changes(leading_lines=(*above, *before[0].leading_lines))
    return [first, *before[1:], rest[0].with_changes(leading_lines=())]
