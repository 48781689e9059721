"""The ways that gradient would take from a loss, read off the autograd graph."""

from __future__ import annotations

from collections import deque
from typing import Any

import torch

Edge = tuple[Any, int]


class Routes:
    def __init__(self, loss: torch.Tensor) -> None:
        self.loss = loss
        self._came_from: dict[Any, Any] = {}
        self._edges: set[Edge] = set()
        self._leaves: dict[int, Any] = {}  # leaf -> the node that accumulates into it
        if loss.grad_fn is not None:
            self._walk(loss.grad_fn, loss.output_nr)

    def _walk(self, root: Any, index: int) -> None:
        """Breadth first, so that the path to a leaf is a shortest one."""
        self._came_from[root] = None
        self._edges.add((root, index))
        queue = deque([root])
        while queue:
            node = queue.popleft()
            following = node.next_functions
            if not following and (leaf := getattr(node, "variable", None)) is not None:
                self._leaves[id(leaf)] = node
            for edge in following:
                child = edge[0]
                if child is None:
                    continue
                self._edges.add(edge)
                if child not in self._came_from:
                    self._came_from[child] = node
                    queue.append(child)

    def reach(self, tensor: torch.Tensor) -> bool:
        if tensor is self.loss:
            return tensor.requires_grad
        if tensor.grad_fn is None:
            return id(tensor) in self._leaves
        return (tensor.grad_fn, tensor.output_nr) in self._edges

    def path(self, tensor: torch.Tensor) -> list[Any]:
        """The nodes from the loss to this tensor, both ends included."""
        node = self._leaves.get(id(tensor)) if tensor.grad_fn is None else tensor.grad_fn
        found = []
        while node is not None:
            found.append(node)
            node = self._came_from[node]
        return found[::-1]
