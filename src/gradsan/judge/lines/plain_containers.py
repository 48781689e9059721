"""What a module keeps where PyTorch does not look for it: layers in a plain list, weights as a plain tensor."""

from __future__ import annotations

import ast

from gradsan.judge.lines.source import tree_of

CONTAINERS = (ast.List, ast.ListComp, ast.Tuple, ast.Dict, ast.DictComp)


def plain_container_at(file: str, line: int) -> int:
    """The line that makes such an attribute of what is made on this line; 0 where there is none."""
    tree = tree_of(file)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.ClassDef) and _covers(node, line) and _is_module(node, tree):
            return _attribute(node, line)
    return 0


def plain_tensor_at(file: str, line: int) -> bool:
    """Whether this line makes an attribute of a module: one that is no `nn.Parameter` is none of its parameters."""
    tree = tree_of(file)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.ClassDef) and _covers(node, line) and _is_module(node, tree):
            assigned = (n for n in ast.walk(node) if isinstance(n, ast.Assign) and _covers(n, line))
            return any(ast.unparse(target).startswith("self.") for n in assigned for target in n.targets)
    return False


def _attribute(owner: ast.ClassDef, line: int) -> int:
    assigned = [node for node in ast.walk(owner) if isinstance(node, ast.Assign)]
    for node in assigned:
        if _covers(node, line) and isinstance(node.value, CONTAINERS):
            name = ast.unparse(node.targets[0])
            return node.lineno if name.startswith("self.") else _kept(assigned, name)
    for part in ast.walk(owner):
        if isinstance(part, ast.Expr | ast.AugAssign) and _covers(part, line):
            name = _extended(part)
            empty = [
                a for a in assigned if ast.unparse(a.targets[0]) == name and isinstance(a.value, CONTAINERS)
            ]
            if empty:
                return empty[0].lineno if name.startswith("self.") else _kept(assigned, name)
    return 0


def _extended(node: ast.Expr | ast.AugAssign) -> str:
    """`layers` of `layers.append(…)`, `layers[key] = …` aside."""
    if isinstance(node, ast.AugAssign):
        return ast.unparse(node.target)
    call = node.value
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        return ast.unparse(call.func.value) if call.func.attr in ("append", "extend", "insert") else ""
    return ""


def _kept(assigned: list[ast.Assign], name: str) -> int:
    """`self.layers = layers`."""
    for node in assigned:
        attribute = ast.unparse(node.targets[0]).startswith("self.")
        if attribute and isinstance(node.value, ast.Name) and node.value.id == name:
            return node.lineno
    return 0


def _is_module(owner: ast.ClassDef, tree: ast.AST | None) -> bool:
    """Whether it derives from something called …Module, in this file as far as it can be followed."""
    bases = {ast.unparse(base).rpartition(".")[2] for base in owner.bases}
    if any(base.endswith("Module") for base in bases):
        return True
    classes = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)] if tree is not None else []
    return any(c.name in bases and c is not owner and _is_module(c, tree) for c in classes)


def _covers(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)
