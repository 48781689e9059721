"""A source file and changes to it that leave every line where it was."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

Splice = tuple[int, int, str]


@dataclass(frozen=True)
class Change:
    """One realistic mistake: what is put where, and the lines that a tool may rightly name for it."""

    splices: tuple[Splice, ...]
    lines: tuple[int, ...]

    @property
    def place(self) -> int:
        return self.splices[0][0]


class Source:
    """Text, tree, and who is whose parent. Offsets are bytes, as `ast` counts columns."""

    def __init__(self, text: str) -> None:
        self.raw = text.encode()
        self.tree = ast.parse(text)
        self._starts = [0]
        for line in self.raw.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def at(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, ast.expr | ast.stmt | ast.keyword)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def text(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.raw[start:end].decode()

    def operand(self, node: ast.AST) -> str:
        """Its text as a factor or a term: an operation loses its brackets when it is moved, and gets new ones."""
        whole = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Constant | ast.Subscript)
        return self.text(node) if whole else f"({self.text(node)})"

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self.parents:
            node = self.parents[node]
            yield node

    def statement(self, node: ast.AST) -> ast.stmt:
        if isinstance(node, ast.stmt):
            return node
        return next(a for a in self.ancestors(node) if isinstance(a, ast.stmt))

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def calls(self) -> list[ast.Call]:
        return [node for node in self.nodes if isinstance(node, ast.Call)]

    @cached_property
    def simple(self) -> list[ast.stmt]:
        return [n for n in self.nodes if isinstance(n, ast.stmt) and not hasattr(n, "body")]

    # What a change is made of.

    def put(self, node: ast.AST, text: str) -> Splice:
        return (*self.span(node), text)

    def after(self, node: ast.AST, text: str) -> Splice:
        end = self.span(node)[1]
        return end, end, text

    def tail(self, inner: ast.AST, outer: ast.AST) -> Splice:
        """What `outer` adds behind `inner`, gone: `x.detach()` becomes `x`. Brackets around `inner` stay."""
        start, end = self.span(inner)[1], self.span(outer)[1]
        brackets = re.match(rb"(\s*\))*", self.raw[start:end])
        return start + (brackets.end() if brackets else 0), end, ""

    def apply(self, change: Change) -> str | None:
        """The changed text; None where a line would move, the result is no Python, or nothing changes."""
        raw = self.raw
        for start, end, new in sorted(change.splices, reverse=True):
            raw = raw[:start] + new.encode() + raw[end:]
        text = raw.decode()
        if raw.count(b"\n") != self.raw.count(b"\n") or raw == self.raw:
            return None
        try:
            tree = ast.parse(text)
        except SyntaxError:
            return None
        return None if ast.dump(tree) == self._dump else text

    @cached_property
    def _dump(self) -> str:
        return ast.dump(self.tree)
