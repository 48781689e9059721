"""The ways that gradient would take from a loss, read off the autograd graph."""

from __future__ import annotations

from typing import Any

import torch

from gradsan.observe.graphs.graph import leaf_of, nodes_behind

Edge = tuple[Any, int]


class Routes:
    def __init__(self, loss: torch.Tensor) -> None:
        self.loss = loss
        self._came_from = nodes_behind((loss,), shortest=True)
        self._edges: set[Edge] = {(loss.grad_fn, loss.output_nr)}
        self._leaves: dict[int, Any] = {}  # leaf -> the node that accumulates into it
        for node in self._came_from:
            self._edges.update(node.next_functions)
            if (leaf := leaf_of(node)) is not None:
                self._leaves[id(leaf)] = node

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
