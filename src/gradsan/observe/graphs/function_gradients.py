"""What the backward of a custom `autograd.Function` was given, and for which inputs it gave nothing back."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from torch.autograd.function import BackwardCFunction

from gradsan.observe.containment import Containment
from gradsan.observe.graphs.graph import Label, leaf_of
from gradsan.observe.ops.values import Tensor, version_of
from gradsan.observe.registry import Leaves
from gradsan.observe.sites import Sites
from gradsan.observe.unseen import is_dense, is_readable
from gradsan.record.events import NOWHERE, FunctionPass, Site, ValueId


class Seen(NamedTuple):
    nid: ValueId
    arrived: tuple[int, ...]
    outputs: int
    plain: bool
    gives: bool
    overwrites: bool
    severs: bool
    varied: tuple[int, ...]
    behind: list[Tensor]


class FunctionWatcher:
    """Hooks on the nodes of custom functions for the length of one backward."""

    def __init__(self, containment: Containment, named: dict[Any, Label]) -> None:
        self._contain = containment.contain
        self._seen: list[Seen] = []
        self._versions: dict[ValueId, list[int]] = {}
        functions = [(n, nid) for n, (nid, _) in named.items() if nid and isinstance(n, BackwardCFunction)]
        self._handles = [node.register_prehook(self._before(nid)) for node, nid in functions]
        self._handles += [node.register_hook(self._hook(node, nid)) for node, nid in functions]

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()

    def passes(self, leaves: Leaves) -> tuple[FunctionPass, ...]:
        """Tensors are given up here, for good."""
        seen, self._seen = self._seen, []
        return tuple(FunctionPass(*s[:-1], leaves.pids(s.behind)) for s in seen)

    def _before(self, nid: ValueId) -> Any:
        def hook(grad_outputs: Any) -> None:
            self._versions[nid] = _versions(grad_outputs)

        return hook

    def _hook(self, node: Any, nid: ValueId) -> Any:
        def hook(grad_inputs: Any, grad_outputs: Any) -> None:
            self._contain("gradients", self._look, node, nid, grad_inputs, grad_outputs)

        return hook

    def _look(self, node: Any, nid: ValueId, grad_inputs: Any, grad_outputs: Any) -> None:
        arrived = [(i, g) for i, g in enumerate(grad_outputs) if g is not None and _is_something(g)]
        if not arrived:
            return
        pairs = zip(node.next_functions, grad_inputs, strict=False)
        missing = [child for (child, _), g in pairs if child is not None and g is None]
        plain = all(g.numel() == 1 and float(g) == 1.0 for _, g in arrived)
        gives = any(g is not None and _is_something(g) for g in grad_inputs)
        indices = tuple([i for i, _ in arrived])
        overwrites = self._versions.get(nid, _versions(grad_outputs)) != _versions(grad_outputs)
        severs = any(g.requires_grad for _, g in arrived) and not any(
            g is not None and g.requires_grad for g in grad_inputs
        )
        lost = _leaves_behind(missing)
        varied = tuple([i for i, g in arrived if _varies(g)])
        self._seen.append(
            Seen(nid, indices, len(grad_outputs), plain, gives, overwrites, severs, varied, lost)
        )


def _is_something(grad: Tensor) -> bool:
    return is_readable(grad) and is_dense(grad) and bool(grad.any())


def _varies(grad: Tensor) -> bool:
    return grad.dim() > 0 and len(grad) > 1 and bool((grad != grad[:1]).any())


def _versions(grads: Any) -> list[int]:
    return [version_of(g) if g is not None and is_readable(g) else 0 for g in grads]


def _leaves_behind(nodes: list[Any]) -> list[Tensor]:
    found: set[Any] = set()
    while nodes:
        node = nodes.pop()
        if node not in found:
            found.add(node)
            nodes.extend(child for child, _ in node.next_functions if child is not None)
    return [leaf for node in found if (leaf := leaf_of(node)) is not None]


def backward_site(function: Any, sites: Sites) -> Site:
    """The line on which the user's own backward of this function begins."""
    method = inspect.unwrap(getattr(function, "backward", None) or function)  # `once_differentiable` wraps it
    code = getattr(method, "__code__", None)
    if code is None or not sites.is_user(code):
        return NOWHERE
    return sites.at(code.co_filename, code.co_firstlineno, code.co_name)
