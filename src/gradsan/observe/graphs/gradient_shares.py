"""Where gradients of several ways meet: how much each of them brings, in the user's own backward.

For the length of one backward hooks stand behind the nodes whose gradients are added up at a parameter or at a value
that several others were made of. What each brings is copied, multiplied with what the others bring, and given up. A
gradient that lay in `.grad` before is compared with what this backward adds to it. Nothing is given back to PyTorch, no
second backward runs, no number is drawn.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from gradsan.observe.containment import Containment
from gradsan.observe.graphs.graph import Label, leaf_of
from gradsan.observe.ops.values import Tensor
from gradsan.observe.registry import Leaves
from gradsan.observe.unseen import is_dense, is_readable
from gradsan.record.events import NOBODY, NOTHING, Junction, Overlap, ValueId

LOOKS = 4  # backwards of one line whose junctions are measured, and as many whose gradient meets an older one
SEARCHES, SOME = 16, 8  # where none was found in the first backwards of a line, every eighth is searched
MOST_WAYS = 8
MOST_JUNCTIONS = 96
MOST_NUMBERS = 4_000_000  # that are copied at one backward


class _GradientWay(NamedTuple):
    """The gradient that a node sends on as the given one of its inputs' gradients."""

    node: Any
    place: int


class GradientShares:
    """Of one session: which lines have been measured how often."""

    def __init__(self, containment: Containment) -> None:
        self._containment = containment
        self._looks: Counter[tuple[int, str]] = Counter()

    def watch(self, token: int, named: dict[Any, Label], leaves: list[Tensor]) -> ShareWatcher | None:
        """`token` stands for the call of backward."""
        junctions, held = {}, []
        if self._searches(token) and (junctions := _junctions(named)):
            self._looks[token, "junctions"] += 1
        if self._looks[token, "overlaps"] < LOOKS and (held := [leaf for leaf in leaves if _holds(leaf)]):
            self._looks[token, "overlaps"] += 1
        return ShareWatcher(self._containment, named, junctions, held) if junctions or held else None

    def _searches(self, token: int) -> bool:
        if self._looks[token, "junctions"] >= LOOKS:
            return False
        self._looks[token, "searches"] += 1
        searched = self._looks[token, "searches"]
        return searched <= SEARCHES or searched % SOME == 0


class ShareWatcher:
    def __init__(
        self,
        containment: Containment,
        named: dict[Any, Label],
        junctions: dict[Any, list[_GradientWay]],
        held: list[Tensor],
    ) -> None:
        self._contain = containment.contain
        self._named, self._junctions = named, junctions
        self._room = MOST_NUMBERS
        self._brought: dict[_GradientWay, Tensor] = {}
        held_now = [(leaf, leaf.grad) for leaf in held]
        self._before = [(leaf, g.detach().clone()) for leaf, g in held_now if g is not None and self._fits(g)]
        wanted: dict[Any, list[_GradientWay]] = {}
        for ways in junctions.values():
            for way in ways:
                wanted.setdefault(way.node, []).append(way)
        self._handles = [node.register_hook(self._hook(ways)) for node, ways in wanted.items()]

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()

    def _hook(self, ways: list[_GradientWay]) -> Any:
        def hook(grad_inputs: Any, grad_outputs: Any) -> None:
            self._contain("gradients", self._copy, ways, grad_inputs)

        return hook

    def _copy(self, ways: list[_GradientWay], gradients: Any) -> None:
        for way in ways:
            gradient = gradients[way.place] if way.place < len(gradients) else None
            if gradient is not None and is_readable(gradient) and self._fits(gradient):
                self._brought[way] = gradient.detach().clone()

    def _fits(self, gradient: Any) -> bool:
        if not is_readable(gradient) or not is_dense(gradient) or not gradient.dtype.is_floating_point:
            return False
        self._room -= gradient.numel()
        return self._room > 0

    def results(self, leaves: Leaves) -> tuple[tuple[Junction, ...], tuple[Overlap, ...]]:
        """Tensors are given up here, for good."""
        junctions = [self._junction(node, ways, leaves) for node, ways in self._junctions.items()]
        overlaps = [
            Overlap(leaves.pid(leaf), *_products(before, leaf.grad.detach() - before))
            for leaf, before in self._before
            if leaf.grad is not None and leaf.grad.shape == before.shape
        ]
        self._brought.clear()
        self._before.clear()
        self._junctions = {}
        return tuple(j for j in junctions if j is not None), tuple(overlaps)

    def _junction(self, node: Any, ways: list[_GradientWay], leaves: Leaves) -> Junction | None:
        parts = [self._brought[way] for way in ways if way in self._brought]
        if len(parts) < len(ways) or len({part.shape for part in parts}) != 1:
            return None  # a way that no gradient came along, or that a broadcast lies on
        leaf = leaf_of(node)
        pid = leaves.pid(leaf) if leaf is not None else NOBODY
        value = NOTHING if leaf is not None else self._named[node][0]
        flat = [part.flatten().double() for part in parts]
        products = [float(one.dot(other)) for i, one in enumerate(flat) for other in flat[i:]]
        sources = tuple(self._named[way.node][0] for way in ways)
        return Junction(pid, value, sources, tuple(float(f"{p:.6g}") for p in products))


def _junctions(named: dict[Any, Label]) -> dict[Any, list[_GradientWay]]:
    """The nodes at which several ways meet, each of a value that is known."""
    ways: dict[Any, list[_GradientWay]] = {}
    for node, (nid, _) in named.items():
        for index, (child, _) in enumerate(node.next_functions):
            if child is not None and nid:
                ways.setdefault(child, []).append(_GradientWay(node, index))
    several = {node: found for node, found in ways.items() if 1 < len(found) <= MOST_WAYS}
    of_value = {node for node in several if _label_is_own(node, several[node], named)}
    chosen = [node for node in several if node in of_value or leaf_of(node) is not None]
    return {node: several[node] for node in chosen[:MOST_JUNCTIONS]}


def _label_is_own(node: Any, ways: list[_GradientWay], named: dict[Any, Label]) -> bool:
    """Whether the node made a value by itself: not one of several nodes behind one call."""
    own: ValueId = named[node][0] if node in named else NOTHING
    return bool(own) and all(named[way.node][0] != own for way in ways)


def _holds(leaf: Tensor) -> bool:
    grad = leaf.grad
    return grad is not None and is_readable(grad) and is_dense(grad) and bool(grad.any())


def _products(one: Tensor, other: Tensor) -> tuple[float, float, float]:
    first, second = one.flatten().double(), other.flatten().double()
    return tuple(float(x.dot(y)) for x, y in ((first, first), (second, second), (first, second)))  # type: ignore[return-value]
