"""The scopes of a file: the module and every function, each with its own nodes and what it binds names to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from gradsan.lint.names import Function, Names, dotted

Binding = ast.expr | None  # None: something was bound, and it cannot be read off what


@dataclass(eq=False)
class Scope:
    node: ast.Module | Function
    name: str
    owner: ast.ClassDef | None = None
    outer: Scope | None = None
    nodes: list[ast.AST] = field(default_factory=list)  # in the order of the source, without inner scopes
    inner: list[Scope] = field(default_factory=list)
    bindings: dict[str, list[Binding]] = field(
        default_factory=dict
    )  # names and attributes, as they are spelt
    no_grad: list[range] = field(default_factory=list)  # lines without gradients
    loops: list[ast.For | ast.AsyncFor | ast.While] = field(default_factory=list)

    def bind(self, target: ast.AST, value: Binding) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            values: list[Binding] = [None] * len(target.elts)
            stars = any(isinstance(part, ast.Starred) for part in target.elts)
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(values) and not stars:
                values = list(value.elts)
            for part, of_part in zip(target.elts, values, strict=True):
                self.bind(part, of_part)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, None)
        elif name := dotted(target):
            self.bindings.setdefault(name, []).append(value)

    def is_without_grad(self, node: ast.expr | ast.stmt) -> bool:
        return any(node.lineno in lines for lines in self.no_grad)

    def calls(self) -> Iterator[ast.Call]:
        return (node for node in self.nodes if isinstance(node, ast.Call))

    def all_nodes(self) -> Iterator[ast.AST]:
        """With those of the functions inside."""
        yield from self.nodes
        for scope in self.inner:
            yield from scope.all_nodes()

    def loops_around(self, node: ast.expr | ast.stmt) -> list[ast.For | ast.AsyncFor | ast.While]:
        """The innermost last."""
        return [loop for loop in self.loops if loop.lineno < node.lineno <= (loop.end_lineno or 0)]


class ScopeBuilder:
    def __init__(self, tree: ast.Module) -> None:
        self.names = Names()
        self.classes: dict[str, ast.ClassDef] = {}
        self.scopes: list[Scope] = []
        self.module = self._new(tree, "<module>", None, None)
        self._fill(self.module, tree.body, None)

    def _new(
        self, node: ast.Module | Function, name: str, owner: ast.ClassDef | None, outer: Scope | None
    ) -> Scope:
        scope = Scope(node, name, owner, outer)
        self.scopes.append(scope)
        if outer is not None:
            outer.inner.append(scope)
        return scope

    def _fill(self, scope: Scope, nodes: list[ast.stmt], owner: ast.ClassDef | None) -> None:
        """Without recursion: expressions may be nested as deep as the parser allows."""
        keep, todo = scope.nodes.append, list[ast.AST](reversed(nodes))
        while todo:
            node = todo.pop()
            kind = type(node)
            if kind in BINDING:
                if kind is ast.FunctionDef or kind is ast.AsyncFunctionDef:
                    self._function(scope, node, owner)  # type: ignore[arg-type]
                    continue
                if kind is ast.ClassDef:
                    self._class(scope, node)  # type: ignore[arg-type]
                    continue
                if kind is ast.Lambda:
                    self.names_of_parameters(node.args)  # type: ignore[attr-defined]
                    continue
                self._note(scope, node)
            keep(node)
            children = []
            for name in kind._fields:
                value = getattr(node, name, None)
                if isinstance(value, ast.AST):
                    if type(value) not in LEAVES:
                        children.append(value)
                elif type(value) is list:
                    children += [
                        child for child in value if isinstance(child, ast.AST) and type(child) not in LEAVES
                    ]
            children.reverse()
            todo += children

    def _class(self, scope: Scope, node: ast.ClassDef) -> None:
        self.classes[node.name] = node
        self._bind(scope, ast.Name(node.name), None)
        self._fill(scope, node.body, node)

    def _function(self, outer: Scope, node: Function, owner: ast.ClassDef | None) -> None:
        self._bind(outer, ast.Name(node.name), None)
        scope = self._new(node, node.name, owner, outer)
        for name in self.names_of_parameters(node.args):
            scope.bindings.setdefault(name, []).append(None)
        if any(is_no_grad(self.names, decorator) for decorator in node.decorator_list):
            scope.no_grad.append(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        elif outer.is_without_grad(node):
            scope.no_grad = outer.no_grad
        self._fill(scope, node.body, None)

    def names_of_parameters(self, args: ast.arguments) -> list[str]:
        given = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
        names = [arg.arg for arg in given if arg is not None]
        for name in names:
            self.names.rebind(name)
        return names

    def _note(self, scope: Scope, node: ast.AST) -> None:
        """What a node binds, and which lines it makes a loop of or takes the gradients from."""
        if isinstance(node, ast.Import | ast.ImportFrom):
            self.names.add_import(node)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind(scope, target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
            self._bind(scope, node.target, node.value)
        elif isinstance(node, ast.AugAssign | ast.For | ast.AsyncFor | ast.comprehension):
            self._bind(scope, node.target, None)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._bind(scope, node.optional_vars, None)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            self._bind(scope, ast.Name(node.name), None)
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            scope.loops.append(node)
        elif isinstance(node, ast.With) and any(is_no_grad(self.names, i.context_expr) for i in node.items):
            scope.no_grad.append(range(node.lineno, (node.end_lineno or node.lineno) + 1))

    def _bind(self, scope: Scope, target: ast.AST, value: Binding) -> None:
        scope.bind(target, value)
        if isinstance(value, ast.Constant) and value.value is None:
            return  # `try: import torch`, `except ImportError: torch = None`
        self._rebind(target)

    def _rebind(self, target: ast.AST) -> None:
        if isinstance(target, ast.Name):
            self.names.rebind(target.id)
        elif isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._rebind(part)
        elif isinstance(target, ast.Starred):
            self._rebind(target.value)


# The nodes that bind names or open a scope; all others are only kept. Leaves have nothing to tell.
BINDING = {
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Import, ast.ImportFrom, ast.Assign,
    ast.AnnAssign, ast.NamedExpr, ast.AugAssign, ast.For, ast.AsyncFor, ast.While, ast.comprehension, ast.withitem,
    ast.With, ast.ExceptHandler,
}  # fmt: skip
LEAVES = {ast.Constant, ast.Load, ast.Store, ast.Del, *ast.operator.__subclasses__(), *ast.unaryop.__subclasses__(),
          *ast.cmpop.__subclasses__(), *ast.boolop.__subclasses__()}  # fmt: skip
NO_GRAD = ("torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad")


def is_no_grad(names: Names, node: ast.expr) -> bool:
    """`torch.no_grad()`, also through a name of a library's own that says so, and what may be it."""
    function = node.func if isinstance(node, ast.Call) else node
    if names.qualified(function) in NO_GRAD:
        return True
    last = dotted(function).split(".")[-1].lower()
    return "no_grad" in last or "inference" in last or last == "set_grad_enabled"
