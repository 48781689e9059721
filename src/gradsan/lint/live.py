"""Which expressions certainly have a graph behind them, and which certainly have none."""

from __future__ import annotations

import ast

from gradsan.lint.scopes import Binding, Scope
from gradsan.lint.source_file import SourceFile

OF_DISTRIBUTIONS = {"log_prob", "rsample"}  # always of the distribution's parameters
# Of a tensor with a graph, these are tensors with a graph.
KEEPING = {
    "sum",
    "mean",
    "squeeze",
    "unsqueeze",
    "view",
    "reshape",
    "gather",
    "pow",
    "exp",
    "log",
    "float",
    "clamp",
}
LOSSES = {"mse_loss", "smooth_l1_loss", "l1_loss", "huber_loss", "cross_entropy", "nll_loss", "log_softmax", "softmax",
          "binary_cross_entropy", "binary_cross_entropy_with_logits"}  # fmt: skip
NUMBERS = ("torch.tensor", "torch.FloatTensor", "torch.Tensor", "torch.from_numpy")
MOVED = {
    "to",
    "float",
    "double",
    "view",
    "reshape",
    "squeeze",
    "unsqueeze",
    "flip",
    "cumsum",
    "sum",
    "mean",
    "cuda",
}


def is_live(file: SourceFile, scope: Scope, node: Binding, depth: int = 6) -> bool:
    """A log-probability, the output of a network of this file, or what is computed from one."""
    if node is None or not depth:
        return False
    if isinstance(node, ast.Name):
        values = scope.bindings.get(node.id, [])
        return len(values) == 1 and is_live(file, scope, values[0], depth - 1)
    if isinstance(node, ast.expr) and scope.is_without_grad(node):
        return False
    if isinstance(node, ast.UnaryOp):
        return is_live(file, scope, node.operand, depth - 1)
    if isinstance(node, ast.BinOp):
        return any(is_live(file, scope, side, depth - 1) for side in (node.left, node.right))
    if isinstance(node, ast.Subscript):
        return is_live(file, scope, node.value, depth - 1)
    return isinstance(node, ast.Call) and _is_live_call(file, scope, node, depth - 1)


def _is_live_call(file: SourceFile, scope: Scope, call: ast.Call, depth: int) -> bool:
    full = file.called(call)
    if full.startswith("torch."):
        known = full.rpartition(".")[2] in LOSSES
        return known and bool(call.args) and is_live(file, scope, call.args[0], depth)
    if isinstance(call.func, ast.Attribute):
        if call.func.attr in OF_DISTRIBUTIONS:
            return True
        if call.func.attr in KEEPING:
            return is_live(file, scope, call.func.value, depth)
    return file.is_module(scope, call.func)


def is_constant(file: SourceFile, scope: Scope, node: Binding, depth: int = 4) -> bool:
    """Detached, made of numbers, or a number."""
    if node is None or not depth:
        return False
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Name):
        values = scope.bindings.get(node.id, [])
        return bool(values) and all(is_constant(file, scope, value, depth - 1) for value in values)
    if isinstance(node, ast.BinOp):
        return all(is_constant(file, scope, side, depth - 1) for side in (node.left, node.right))
    if not isinstance(node, ast.Call):
        return False
    if file.called(node) in NUMBERS:
        return all(k.arg in ("dtype", "device") for k in node.keywords)
    if isinstance(node.func, ast.Name) and node.func.id in ("len", "float", "int"):
        return True
    if not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr in ("detach", "item"):
        return True
    return node.func.attr in MOVED and is_constant(file, scope, node.func.value, depth)
