"""Reading an autograd graph without running it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import torch

KEY = "gradsan"  # where the operation tap leaves a value's number in a node's metadata


class Graph(NamedTuple):
    """The nodes behind some tensors, nearest the loss first, and the leaves that they lead to."""

    nodes: list[Any]
    leaves: list[torch.Tensor]


def node_of(tensor: torch.Tensor) -> Any:
    """`tensor.grad_fn`, or None where PyTorch refuses to say: a view made under `no_grad` whose base was
    written with gradients on may be looked at, only not used."""
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def walk(roots: Iterable[torch.Tensor]) -> Graph:
    stack, seen, leaves = [], set(), []
    for root in roots:
        node = node_of(root)
        if node is not None and node not in seen:
            seen.add(node)
            stack.append(node)
        elif node is None and root.requires_grad:
            leaves.append(root)
    nodes = []
    while stack:
        node = stack.pop()
        nodes.append(node)
        following = node.next_functions
        if not following:
            leaf = getattr(node, "variable", None)
            if leaf is not None:
                leaves.append(leaf)
        for child, _ in following:
            if child is not None and child not in seen:
                seen.add(child)
                stack.append(child)
    return Graph(nodes, leaves)


def label(tensor: torch.Tensor, nid: int) -> None:
    """Leave the value's number at the node that computed it."""
    node = node_of(tensor)
    if node is not None:
        node.metadata[KEY] = nid


def labels(roots: Iterable[torch.Tensor]) -> dict[Any, int]:
    """For every node the number of the value it computed. A call that makes several nodes labels only
    the last of them; the others take the label of the node they were made for."""
    found: dict[Any, int] = {}
    stack: list[tuple[Any, int]] = [(node, 0) for root in roots if (node := node_of(root)) is not None]
    while stack:
        node, inherited = stack.pop()
        if node in found:
            continue
        nid = found[node] = node.metadata.get(KEY, inherited)
        for child, _ in node.next_functions:
            if child is not None and child not in found:
                stack.append((child, nid))
    return found


_saved_names: dict[type, tuple[str, ...]] = {}


def saved_names(node: Any) -> tuple[str, ...]:
    """The attributes under which this kind of node keeps tensors for its backward."""
    names = _saved_names.get(type(node))
    if names is None:
        # Running statistics are kept and, in training, neither used nor counted when the kernel updates them.
        skip = ("_sym_sizes", "_sym_strides", "_sym_size", "_options", "_running_mean", "_running_var")
        names = tuple(n for n in dir(node) if n.startswith("_saved_") and not n.endswith(skip))
        if "saved_tensors" in dir(node):
            names += ("saved_tensors",)
        _saved_names[type(node)] = names
    return names
