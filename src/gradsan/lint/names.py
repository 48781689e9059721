"""What the names in a file stand for: `F.softmax` is `torch.nn.functional.softmax` where the imports say so."""

from __future__ import annotations

import ast

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Names:
    """The imports of one file. A name that is bound to something else as well stands for nothing."""

    def __init__(self) -> None:
        self._imported: dict[str, str] = {}
        self._rebound: set[str] = set()

    def add_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                meant = f"{'.' * node.level}{node.module or ''}.{alias.name}"
                self._bind(alias.asname or alias.name, meant)
            elif alias.asname:
                self._bind(alias.asname, alias.name)
            else:  # `import torch.nn` binds `torch`
                first = alias.name.split(".")[0]
                self._bind(first, first)

    def rebind(self, name: str) -> None:
        self._rebound.add(name)

    def _bind(self, name: str, meant: str) -> None:
        if self._imported.setdefault(name, meant) != meant:
            self._rebound.add(name)

    def qualified(self, node: ast.AST) -> str:
        """The full name of what a name or attribute stands for; empty where that is not certain."""
        spelt = dotted(node)
        first, _, rest = spelt.partition(".")
        if first in self._rebound or first not in self._imported:
            return ""
        return f"{self._imported[first]}.{rest}" if rest else self._imported[first]


def dotted(node: ast.AST) -> str:
    """`self.critic.net` as it is written; empty for anything but names and attributes."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def argument(call: ast.Call, position: int, keyword: str) -> ast.expr | None:
    """What is given for a parameter; None also where a star could have given it."""
    for given in call.keywords:
        if given.arg == keyword:
            return given.value
    before = call.args[: position + 1]
    if len(before) <= position or any(isinstance(arg, ast.Starred) for arg in before):
        return None
    return before[position]


def has_stars(call: ast.Call) -> bool:
    return any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
