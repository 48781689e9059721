"""One file, parsed: its scopes, its names, and what is known about the things that its names are bound to."""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence

from gradsan.lint.names import dotted
from gradsan.lint.scopes import Binding, Scope, ScopeBuilder

NO_MODULES = ("functional", "utils", "init", "parallel", "attention")  # what else torch.nn holds
SAME_MODULE = {"to", "cuda", "cpu", "train", "eval", "float", "double", "half", "bfloat16", "requires_grad_"}


class SourceFile:
    def __init__(self, shown: str, lines: Sequence[str], tree: ast.Module) -> None:
        self.shown = shown
        self.lines = lines
        self._tree = tree

    @functools.cached_property
    def _built(self) -> ScopeBuilder:
        return ScopeBuilder(self._tree)

    def close(self) -> None:
        """Scopes know each other both ways: parted, they are gone at once, without the garbage collector."""
        if "_built" in self.__dict__:
            for scope in self.scopes:
                scope.inner.clear()

    @property
    def scopes(self) -> list[Scope]:
        return self._built.scopes

    def qualified(self, node: ast.AST) -> str:
        return self._built.names.qualified(node)

    def called(self, node: ast.AST) -> str:
        """The full name of what a call calls; empty for anything else."""
        return self.qualified(node.func) if isinstance(node, ast.Call) else ""

    def bindings(self, scope: Scope, name: str) -> list[Binding]:
        """All that a name is bound to where it is used: attributes in all methods of the class, names in the innermost
        scope that binds them."""
        if name.startswith("self.") and (owner := self._owner(scope)) is not None:
            return self._attributes.get((owner, name), [])
        where: Scope | None = scope
        while where is not None:
            if name in where.bindings:
                return where.bindings[name]
            where = where.outer
        return []

    def same_class(self, scope: Scope) -> list[Scope]:
        """The methods beside this one; of a plain function or the module, itself alone."""
        owner = self._owner(scope)
        return [s for s in self.scopes if self._owner(s) is owner] if owner is not None else [scope]

    def _owner(self, scope: Scope) -> ast.ClassDef | None:
        while scope.owner is None and scope.outer is not None:
            scope = scope.outer
        return scope.owner

    @functools.cached_property
    def _attributes(self) -> dict[tuple[ast.ClassDef, str], list[Binding]]:
        found: dict[tuple[ast.ClassDef, str], list[Binding]] = {}
        for scope in self.scopes:
            owner = self._owner(scope)
            for name, values in scope.bindings.items():
                if owner is not None and name.startswith("self."):
                    found.setdefault((owner, name), []).extend(values)
        return found

    # -- kinds of things: each is certain where it says yes ---------------------------------------------

    def is_module(self, scope: Scope, node: Binding, depth: int = 4) -> bool:
        """A network: made by torch.nn or by a class of this file, here or where its name was bound."""
        if node is None or not depth:
            return False
        if name := dotted(node):
            values = self.bindings(scope, name)
            return bool(values) and all(self.is_module(scope, value, depth - 1) for value in values)
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute) and node.func.attr in SAME_MODULE:
            return self.is_module(scope, node.func.value, depth)
        full = self.called(node)
        if full in ("copy.deepcopy", "copy.copy") and node.args:
            return self.is_module(scope, node.args[0], depth - 1)
        return is_module_class(full) or self.is_own_module(dotted(node.func))

    def is_own_module(self, name: str, depth: int = 6) -> bool:
        """A class of this file, below torch.nn.Module, that has no ideas of its own about its parameters."""
        built = self._built.classes.get(name)
        if built is None or not depth:
            return False
        if any(isinstance(n, ast.FunctionDef) and n.name == "parameters" for n in built.body):
            return False
        return any(
            is_module_class(self.qualified(base)) or self.is_own_module(dotted(base), depth - 1)
            for base in built.bases
        )

    def is_optimizer(self, node: Binding) -> bool:
        """Made by torch.optim, on this very line."""
        full = self.called(node) if node is not None else ""
        last = full.removeprefix("torch.optim.")
        return last != full and "." not in last and last[:1].isupper()


def is_module_class(full: str) -> bool:
    """`torch.nn.Linear`, and not `torch.nn.functional.linear`, `torch.nn.Parameter` or one of its parts."""
    last = full.removeprefix("torch.nn.")
    if last == full or last.split(".")[0] in NO_MODULES or last.startswith("Param"):
        return False
    return last.split(".")[-1][:1].isupper()
