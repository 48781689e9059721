"""Steps and copies of an environment that are flattened in one order here and in another there.

`[T, N]` and `[N, T]` have as many elements, and flattened they fit each other. Every axis of a value is known by the
sizes that it was flattened from, in their order; where axes meet, the same sizes in another order are no coincidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from math import prod
from typing import NamedTuple

from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import BY_SIZE, LAYERS, RESHAPING, TAKING
from gradsan.record.events import Op, ValueId

Order = tuple[int, ...] | None  # the sizes that an axis was flattened from; nothing where that is not certain
Orders = tuple[Order, ...]
Side = tuple[Op, tuple[int, ...]]
TURNING = {"transpose", "permute", "T", "t", "mT", "swapaxes", "swapdims", "movedim"}
FLATTENING = RESHAPING | {"flatten"}
LOSSES = {
    "mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss", "cross_entropy", "nll_loss", "gather",
    "binary_cross_entropy_with_logits", "binary_cross_entropy",
}  # fmt: skip


class OtherOrder(NamedTuple):
    """`met` puts two values together of which `odd` was flattened in another order than `usual`."""

    met: Op
    odd: Op
    order: tuple[int, ...]
    usual: tuple[int, ...]


def other_orders(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[OtherOrder]:
    turned = (
        op for op in graph.named(within, TURNING | {"stack"}) if op.name != "stack" or op.facts.axes != (0,)
    )
    if next(turned, None) is None or not graph.named(within, FLATTENING):
        return
    known: dict[ValueId, Orders] = {}
    met: list[tuple[Op, Side, Side]] = []
    for nid in sorted(within):
        known[nid] = _orders(graph, within[nid], known)
        met += [(within[nid], *sides) for sides in _meetings(graph, within[nid], known)]
    usual = (
        Counter(order for op in graph.named(within, FLATTENING) for order in known[op.nid]) if met else None
    )
    for op, *sides in met:
        made = [_arranged(graph, *side, known) for side in sides]
        # What most others have is usual, and what is live: the network was asked in that order.
        sizes = [(usual[order], side.live) for side, order in sides] if usual else []
        odd = int(sizes[1] <= sizes[0])
        if (culprit := made[odd]) is not None:
            yield OtherOrder(op, culprit, sides[odd][1], sides[1 - odd][1])


def _meetings(graph: Provenance, op: Op, known: dict[ValueId, Orders]) -> Iterator[tuple[Side, Side]]:
    if op.name not in BY_SIZE | LOSSES:
        return
    sides = [i for i in graph.inputs(op) if i.shape and known.get(i.nid)]
    places = (0,) if op.name in LOSSES else range(-len(op.shape), 0)
    for place in places:
        orders = [(i, known[i.nid][place]) for i in sides if -len(i.shape) <= place < len(i.shape)]
        whole = [(i, order) for i, order in orders if order is not None and len(order) > 1]
        for one, other in pairwise(whole):
            if one[1] != other[1] and sorted(one[1]) == sorted(other[1]):
                yield one, other


def _arranged(graph: Provenance, op: Op, order: tuple[int, ...], known: dict[ValueId, Orders]) -> Op | None:
    """The line that put the axes into this order: that stacked or turned them, else the one that flattened."""
    flat: Op | None = None
    here: Op | None = op
    while here is not None:
        if here.name in TURNING or (here.name == "stack" and here.facts.axes != (0,)):
            return here
        if flat is None and here.name in FLATTENING and order in known[here.nid]:
            flat = here
        if here.name == "stack":
            return flat
        sources = [i for i in graph.inputs(here) if i.shape and prod(i.shape) >= prod(order)]
        fitting = [i for i in sources if order in known[i.nid] or flat is not None]
        here = next(iter(fitting), None)
    return None


def _orders(graph: Provenance, op: Op, known: dict[ValueId, Orders]) -> Orders:
    inputs = [i for i in graph.inputs(op) if i.nid in known]
    if not inputs:
        return _fresh(op.shape)  # from outside
    first, before = inputs[0], known[inputs[0].nid]
    if op.name in LAYERS and len(first.shape) == len(op.shape):
        return (*before[:-1], (op.shape[-1],))
    if op.name == "stack" and op.facts.axes:
        axis = op.facts.axes[0]
        return (*before[:axis], (op.shape[axis],), *before[axis:])
    if op.name in BY_SIZE or op.name == "gather":
        return tuple(_agreed(op, place, inputs, known) for place in range(-len(op.shape), 0))
    if op.name in FLATTENING:
        return reshaped(before, first.shape, op.shape)
    if op.name in TURNING:
        return _turned(before, first.shape, op.shape)
    if op.facts.axes and len(op.shape) == len(first.shape) - len(op.facts.axes):
        return tuple(order for axis, order in enumerate(before) if axis not in op.facts.axes)
    if op.name in TAKING and len(inputs) == 1 and len(op.shape) == len(first.shape):
        pairs = zip(op.shape, first.shape, before, strict=True)
        return tuple(_of_part(size, order if size == old else None, order) for size, old, order in pairs)
    return tuple(_of_no_other(size, inputs, known) for size in op.shape)


def _of_no_other(size: int, inputs: list[Op], known: dict[ValueId, Orders]) -> Order:
    """After an operation that may do anything: an axis of its own, unless it may be one that was flattened."""
    sources = [order for i in inputs for n, order in zip(i.shape, known[i.nid], strict=True) if n >= size]
    return None if any(order is None or len(order) > 1 for order in sources) else (size,)


def _of_part(size: int, order: Order, whole: Order) -> Order:
    """Some of the places of an axis that was never flattened are an axis themselves."""
    return (size,) if order is None and whole is not None and len(whole) == 1 else order


def _fresh(shape: tuple[int, ...]) -> Orders:
    return tuple((size,) for size in shape)


def _agreed(op: Op, place: int, inputs: list[Op], known: dict[ValueId, Orders]) -> Order:
    size = op.shape[place]
    orders = [known[i.nid][place] for i in inputs if len(i.shape) >= -place and i.shape[place] == size]
    whole = {order for order in orders if order is not None and len(order) > 1}
    if len(whole) == 1:
        return whole.pop()
    return (size,) if not whole and orders and None not in orders else None


def _turned(before: Orders, old: tuple[int, ...], new: tuple[int, ...]) -> Orders:
    """Which axis went where is seen by their sizes, if no two are alike."""
    if len(set(old)) != len(old) or sorted(old) != sorted(new):
        return (None,) * len(new)
    return tuple(before[old.index(size)] for size in new)


def reshaped(before: Orders, old: tuple[int, ...], new: tuple[int, ...]) -> Orders:
    """Axes are joined and split from the front; an axis that is split must come apart where it was joined."""
    found: list[Order] = []
    at, rest = 0, [(n, o) for n, o in zip(old, before, strict=True)]
    while at < len(new):
        size, whole, parts = new[at], 1, list[tuple[int, Order]]()
        split = [size]
        while whole != prod(split):
            if whole < prod(split):
                if not rest:
                    return (None,) * len(new)
                parts.append(rest.pop(0))
                whole *= parts[-1][0]
            else:
                at += 1
                if at >= len(new):
                    return (None,) * len(new)
                split.append(new[at])
        found += _split(parts, split)
        at += 1
    return tuple(found)


def _split(parts: list[tuple[int, Order]], sizes: list[int]) -> list[Order]:
    if any(order is None for _, order in parts):
        return [None] * len(sizes)
    atoms = [size for _, order in parts for size in order or () if size != 1]
    found: list[Order] = []
    for size in sizes:
        taken = list[int]()
        while prod(taken) < size and atoms:
            taken.append(atoms.pop(0))
        if prod(taken) != size:
            return [None] * len(sizes)
        found.append(tuple(taken) or (1,))
    return found
