"""A recurrence, or attention, that runs along the samples of a batch: memory goes from sample to sample.

The library's default is time first. What is fed batch first fits as well; how the result is used, and how its input
was put together, tells which axis was meant to be time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import BY_SIZE, LAYERS, RECURRENT, RESHAPING
from gradsan.record.events import Op, ValueId

ATTENTION = (
    "multi_head_attention_forward"  # time first, whatever its module is told: that exchanges the axes before
)
DRAWN = {"randperm", "randint", "multinomial"}
EXCHANGING = {"transpose", "permute", "movedim", "swapaxes", "t"}
REDUCING = {"gather", "max", "amax", "sum", "mean", "argmax", "logsumexp", "min", "amin"}
NORMS = {"layer_norm", "rms_norm"}


class AlongTheBatch(NamedTuple):
    """`op` runs along `axis`, and `told` shows that the other one is time: `what` it does. Not `sure`: of several
    agents, this one may be trained by itself."""

    op: Op
    axis: int
    told: Op
    what: str
    sure: bool = True


class _Place(NamedTuple):
    """A value that still has an axis of samples (as the recurrence sees it) at this place."""

    value: Op
    axis: int


def along_the_batch(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[AlongTheBatch]:
    found = [op for op in graph.named(within, (*RECURRENT, ATTENTION)) if _has_batch(op)]
    shifts: list[tuple[Op, Op]] = []
    for op in found:
        axis = _runs_along(op)
        places, others = _reached(graph, within, op, 1 - axis)
        shifts += [(op, user) for p in places for user in _users(graph, p.value) if _is_shifted(user, p)]
        if axis == 0 and (drawn := _drawn(graph, op)) is not None:
            yield AlongTheBatch(op, axis, drawn, "took its elements at random")
        elif not others and (taken := _only_taken(graph, places)) is not None:
            what = f"takes one of the {op.shape[1 - axis]} sequences and leaves the others"
            yield AlongTheBatch(op, axis, taken, what, sure=False)
        elif (padded := _padded(graph, places)) is not None:
            yield AlongTheBatch(op, axis, padded, "leaves out the places that each row was filled up with")
    # One of both is often what the target network says.
    if len({user.facts.settings for _, user in shifts if user.nid in within}) > 1:
        for op, user in shifts:
            yield AlongTheBatch(op, _runs_along(op), user, "compares each step with the next")


def _has_batch(op: Op) -> bool:
    known = bool(op.facts.axes) or op.name == ATTENTION
    return known and not op.facts.part and len(op.shape) == 3 and min(op.shape[:2]) > 1


def _runs_along(op: Op) -> int:
    return op.facts.axes[0] if op.facts.axes else 0


def _only_taken(graph: Provenance, places: list[_Place]) -> Op | None:
    """`out[:, -1]`, and no other of the sequences is asked for, be it in another loss."""
    taken = [user for p in places for user in _users(graph, p.value) if _takes_one(user, p)]
    return taken[0] if len({user.facts.settings for user in taken}) == 1 else None


def _padded(graph: Provenance, places: list[_Place]) -> Op | None:
    users = (user for p in places if p.axis == 1 for user in _users(graph, p.value))
    return next((user for user in users if _is_padded(user)), None)


def _users(graph: Provenance, value: Op) -> Iterator[Op]:
    for nid in dict.fromkeys(graph.consumers.get(value.nid, ())):
        if (user := graph.get(nid)) is not None:
            yield user


def _reached(
    graph: Provenance, within: dict[ValueId, Op], op: Op, axis: int
) -> tuple[list[_Place], list[Op]]:
    """Where the axis of the samples is found again, and what else on the way to the loss is made of these values."""
    places, others = [_Place(op, axis)], list[Op]()
    for place in places:
        for user in _users(graph, place.value):
            onward = _onward(user, place)
            if onward is not None and all(p.value.nid != user.nid for p in places):
                places.append(_Place(user, onward))
            elif onward is None and not _takes_one(user, place) and user.nid in within:
                others.append(user)
    return places, others


def _onward(user: Op, place: _Place) -> int | None:
    """Where the axis is in what was made of a value; None where it is gone, or nobody can tell."""
    before, after = place.value.shape[:2], user.shape[:2]
    if len(after) < 2 or user.facts.part:
        return None
    if user.name in EXCHANGING and before[0] != before[1] and after == before[::-1]:
        return 1 - place.axis
    if after != before or (user.name in BY_SIZE and len(user.shape) != len(place.value.shape)):
        return None
    if user.name in RECURRENT or user.name == ATTENTION:
        return place.axis if _runs_along(user) != place.axis and user.inputs[0] == place.value.nid else None
    if user.name in REDUCING:
        return place.axis if not {0, 1} & set(user.facts.axes) else None
    return place.axis if user.name in BY_SIZE | LAYERS | RESHAPING | NORMS else None


def _takes_one(user: Op, place: _Place) -> bool:
    shape = place.value.shape
    without = (*shape[: place.axis], *shape[place.axis + 1 :])
    return user.name in ("getitem", "select") and user.facts.axes == (place.axis,) and user.shape == without


def _is_shifted(user: Op, place: _Place) -> bool:
    """`q[:, 1:]` or `q[:, :-1]`."""
    shape, axis = place.value.shape, place.axis
    shorter = (*shape[:axis], shape[axis] - 1, *shape[axis + 1 :])
    return user.name in ("getitem", "narrow") and user.shape == shorter and shape[axis] > 2


def _is_padded(user: Op) -> bool:
    """Multiplied by a mask whose rows end with more and less zeros, and have no others. Of steps first, what is over
    stays over: the zeros at a row's end only become more."""
    mask = user.facts.mask if user.name == "mul" else None
    if mask is None or (mask.low, mask.high) != (0.0, 1.0) or max(mask.tails) < 2:
        return False
    alone = user.shape[0] * user.shape[1] - mask.kept == sum(mask.tails)
    return alone and list(mask.tails) != sorted(mask.tails)


def _drawn(graph: Provenance, op: Op) -> Op | None:
    """The line that put the first axis of what is fed together at random, `windows[randperm(n)[:32]]`."""
    here: Op | None = next(graph.inputs(op), None)
    while here is not None:
        inputs = list(graph.inputs(here))
        index = inputs[1] if here.name == "getitem" and len(inputs) == 2 else None
        if index is not None and not index.floating and here.shape == (*index.shape, *inputs[0].shape[1:]):
            made_of = graph.ancestors([index.nid])
            return here if len(index.shape) == 1 and graph.named(made_of, DRAWN) else None
        kept = inputs and inputs[0].shape[:1] == here.shape[:1] and len(here.shape) == len(inputs[0].shape)
        here = inputs[0] if kept and here.name in BY_SIZE | LAYERS | NORMS else None
    return None
