"""Two values whose axes meet by accident though their shapes allow it: nothing of the form `[B]` against `[B, 1]`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from math import prod
from typing import NamedTuple

from gradsan.judge.flow import BOUNDING, SHAPING, TAKEN_OUT, behind_all, unshaped
from gradsan.judge.provenance import Provenance
from gradsan.judge.residuals import LIBRARY_LOSSES
from gradsan.judge.shapes.axes import COMPARING, SPREADING, TAKING, UNITS, Roles, onward, roles, varies_along
from gradsan.record.events import Op, ValueId

CHOOSING = {"gather", "argmax", "max", "amax"}
COMPARED = {"sub", "rsub", "mul"}
COMPARED_AT_ONCE, COMPARED_WITH_ALL = {"sub", "rsub", *LIBRARY_LOSSES}, COMPARED | LIBRARY_LOSSES
NEAR = 20  # operations between a choice and what is reckoned from it
STAYING = {"pow", "square", "neg", "mul", "div"}
SQUARING = {"pow", "mul", "abs", *LIBRARY_LOSSES}


class Meeting(NamedTuple):
    """An operation, and what met in it."""

    op: Op
    one: Op
    other: Op
    made: Op | None = None  # what gave one of them its form, where that is the mistake


def columns_against_all(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[Meeting]:
    """A target per sample `[B, 1]` that is compared with the values of all actions `[B, A]`, on the way to a loss
    for which other values of that form are chosen from along the actions. Heads that all learn one target are
    nowhere chosen from."""
    met = list(_one_against_all(graph, within))
    known = roles(graph, within) if met else {}  # seldom needed
    for meeting in met:
        if known[meeting.other.nid][-1] == UNITS and _is_chosen_from(graph, meeting, known):
            yield meeting


def _one_against_all(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[Meeting]:
    for op in graph.named(within, COMPARED_AT_ONCE):
        if op.name not in LIBRARY_LOSSES and not _is_squared(graph, op, within):
            continue
        sides = [i for i in graph.inputs(op) if i.floating and len(i.shape) > 1]
        for value in sides:
            for column in sides:
                fits = column.shape == (*value.shape[:-1], 1) and column.shape[0] > 1 and value.shape[-1] > 1
                if fits and value.live and not column.live:
                    yield Meeting(op, column, value)


def _is_squared(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> bool:
    """A difference that becomes an error at once."""
    users = [within[n] for n in graph.consumers.get(op.nid, ()) if n in within]
    return op.name in ("sub", "rsub") and any(u.name in SQUARING for u in users)


def _is_chosen_from(graph: Provenance, meeting: Meeting, known: dict[ValueId, Roles]) -> bool:
    """Whether the target was made by choosing from values of this form, one in each row."""
    shape = meeting.other.shape
    for op in graph.ancestors([meeting.one.nid]).values():
        given = next(graph.inputs(op), None)
        if op.name not in CHOOSING or given is None or given.shape != shape:
            continue
        if op.facts.axes == (len(shape) - 1,) and known[given.nid][-1] == UNITS:
            return True
    return False


def all_choices_for_all_rows(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[Meeting]:
    """`q[:, action]`, which takes the actions of the whole batch from every row, compared with one number per row; or
    `maps[:, tours]`, which lays everybody's tour on every map, and what was reckoned from that weighs such a number."""
    for op in graph.named(within, COMPARED_WITH_ALL):
        sides = list(graph.inputs(op))
        for square in sides:
            size = square.shape[:1]
            if len(square.shape) != 2 or square.shape != size * 2 or size[0] < 2:
                continue
            forms = (size, (*size, 1), (1, *size))
            single = [s for s in (_before_spreading(graph, s) for s in sides) if s.shape in forms]
            taken = _taken_from_every_row(graph, square, size[0]) if single else None
            if taken is not None and (square.live or any(s.live for s in single)):
                yield Meeting(op, single[0], square, taken)


def _taken_from_every_row(graph: Provenance, square: Op, rows: int) -> Op | None:
    """The `x[:, index]` with an index for each row, whose pairs of rows with rows are still there."""
    op = square
    for _ in range(NEAR):
        given = list(graph.inputs(op))
        if op.name == "getitem" and given and given[0].shape[:1] == (rows,):
            index = [i for i in given[1:] if not i.floating and i.shape[:1] == (rows,)]
            if index and op.shape == (rows, *index[0].shape, *given[0].shape[2:]):
                return op
        paired = [i for i in given if i.floating and i.shape[:2] == (rows, rows)]
        if (op.name == "getitem" and len(given) > 1) or not paired:
            return None
        op = paired[0]
    return None


def choices_scored_for_all_rows(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[Meeting]:
    """`Categorical(logits=[B, A]).log_prob([B, 1])`: the choices of the whole batch are scored in every row. Pairs that
    are meant have their axes told apart later; all choices there are, one after the other, are as many as columns."""
    for op in graph.named(within, ("gather",)):
        spread = list(graph.inputs(op)) if op.live and "log_prob" in op.tags else []
        if len(spread) != 2:
            continue
        scores, choices = (_before_spreading(graph, unshaped(graph, part)) for part in spread)
        while choices.name in TAKING and (source := next(graph.inputs(choices), None)) is not None:
            choices = _before_spreading(graph, source)
        rows, columns = scores.shape[:-1], scores.shape[-1:]
        # `log_prob` has put one more axis behind what it was given.
        met = choices.shape == (*rows, 1, 1) and max(rows, default=1) > 1 and (rows[-1],) != columns
        if met and _are_never_told_apart(graph, op, within):
            yield Meeting(op, next(graph.inputs(choices), choices), scores)


def _are_never_told_apart(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> bool:
    """Whether nothing on the way to the loss runs along one of the axes of a table alone."""
    stack, seen = [op], set[ValueId]()
    while stack:
        here = stack.pop()
        for user in onward(graph, here, within):
            if user.nid in seen or not user.live:
                continue
            seen.add(user.nid)
            if len(user.facts.axes) not in (0, len(here.shape)) or user.name in ("diagonal", "diag", "trace"):
                return False
            if user.shape:
                stack.append(user)
    return True


def _before_spreading(graph: Provenance, op: Op) -> Op:
    """What was made to fit by hand (`target.expand_as(q)`) is what it was before."""
    return unshaped(graph, op, SPREADING)


def are_pairs_in_vain(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> bool:
    """Whether a matrix of pairs, of something live with constants, is only squared or scaled and then averaged as a
    whole: a constant for all is what fits it best. So is one of two live values that meet row by row elsewhere in this
    loss. Pairs that are meant have their axes told apart later, or are bent otherwise (a kernel, an energy distance),
    or are those of one value with itself."""
    sides = [i for i in graph.inputs(op) if i.floating]
    if len(sides) != 2 or op.name not in ("add", "sub", "rsub", "mul"):
        return False
    alike = op.name == "add" or sides[0].live == sides[1].live
    if alike and not _meet_by_row(graph, sides, op, within):
        return _are_weighed_by_rows(graph, op, sides, within)
    squared, here = op.name == "mul", op
    while True:
        users = [within[n] for n in dict.fromkeys(graph.consumers.get(here.nid, ())) if n in within]
        if len(users) != 1:
            return False
        before, here = here, users[0]
        if here.name in BOUNDING:  # `min(x * w, y[:, None] * w)`: the other pairs the same, row by row
            constant = sides[0] if sides[1].live else sides[1]
            if all(_are_pairs_with(graph, i, before, constant) for i in graph.inputs(here)):
                continue  # `min(ratio * w, clipped * w)`
            flat = [constant, *(i for i in graph.inputs(constant) if len(i.shape) < len(constant.shape))]
            other = [i for i in graph.inputs(here) if i.nid != before.nid]
            return any(i.shape == c.shape and _is_made_of(graph, i, c) for i in other for c in flat)
        if here.name == "mean" or (here.name == "sum" and not here.shape):
            return squared and not here.shape
        squared = squared or here.name in ("pow", "square")
        others = [i for i in graph.inputs(here) if i.shape and i.shape != here.shape]
        if here.name not in STAYING or others or len([i for i in graph.inputs(here) if i.shape]) > 1:
            return False


def _are_pairs_with(graph: Provenance, op: Op, pairs: Op, constant: Op) -> bool:
    """Whether it is this matrix of pairs, or another with the same constant, which may have been laid out once more."""
    others = [i for i in graph.inputs(op) if not i.live and i.shape == constant.shape]
    same = any(i.nid == constant.nid or (i.inputs and i.inputs == constant.inputs) for i in others)
    return op.nid == pairs.nid or (op.name == pairs.name and op.shape == pairs.shape and same)


def _are_weighed_by_rows(graph: Provenance, op: Op, sides: list[Op], within: dict[ValueId, Op]) -> bool:
    """`(x[:, None] - y).detach() * row`, averaged as a whole: of every pair only the mean over one of the two is left.
    Differences of one value with itself are what that value is compared with, the mean of all."""
    one, other = (behind_all(graph, side, SHAPING) or side for side in sides)
    here, weighed = op, False
    while one.nid != other.nid and op.name in ("sub", "rsub"):
        users = [within[n] for n in dict.fromkeys(graph.consumers.get(here.nid, ())) if n in within]
        if len(users) != 1:
            return False
        before, here = here, users[0]
        if here.name == "mean":
            return weighed and not here.shape
        beside = [i for i in graph.inputs(here) if i.shape and i.nid != before.nid]
        if here.shape != before.shape or here.name not in TAKEN_OUT | {"neg", "mul", "div"}:
            return False
        weighed = weighed or any(i.live and prod(i.shape) < prod(here.shape) for i in beside)
    return False


def _is_made_of(graph: Provenance, op: Op, source: Op) -> bool:
    """By operations that keep the shape."""
    return source.nid in graph.ancestors([op.nid], lambda _, given: given.shape == op.shape)


def _meet_by_row(graph: Provenance, sides: list[Op], op: Op, within: dict[ValueId, Op]) -> bool:
    """Whether another operation compares the same two, one element with one."""
    row, before = sorted(sides, key=lambda side: len(side.shape))
    while before.shape != row.shape and before.name in SHAPING and before.inputs:
        before = next(graph.inputs(before), row)
    if before.nid == row.nid or before.shape != row.shape:
        return False
    users = (within[n] for n in graph.consumers.get(row.nid, ()) if n in within and n != op.nid)
    return any(before.nid in user.inputs and user.shape == row.shape for user in users)


def axis_made_by(graph: Provenance, column: Op) -> Op:
    """The operation that the last axis of a column comes from, one of size 1: a sum with `keepdim`, a layer of one
    unit. Whatever went element by element or along other axes since then has only handed it on, and so has a list."""
    at = len(column.shape) - 1
    while True:
        item = next(graph.inputs(column), None) if column.name == "stack" else None
        if item is not None and at > 0 and column.facts.axes == (0,):
            column, at = item, at - 1  # rows that were put together one by one, each with this axis
            continue
        given = [i for i in graph.inputs(column) if i.floating and i.nid != column.nid]
        same = [i for i in given if i.shape[: at + 1] == column.shape[: at + 1]]
        if not same or len(same) < len([i for i in given if len(i.shape) > at]):
            return column
        column = same[0]


def spread_both(graph: Provenance, op: Op) -> tuple[Op, Op] | None:
    """What a loss of the library was given with another number of axes, where both are spread to fit: `[B, 1]` and
    `[B, 1, B]`. Pairs that are meant have as many axes on either side."""
    sides = [i for i in graph.inputs(op) if i.floating] if op.name in LIBRARY_LOSSES else []
    if len(sides) != 2 or len(sides[0].shape) == len(sides[1].shape) or not all(s.shape for s in sides):
        return None
    full = [max(pair) for pair in zip_longest(*(reversed(s.shape) for s in sides), fillvalue=1)]
    larger = all(prod(full) > prod(s.shape) > 1 for s in sides)
    return (sides[0], sides[1]) if larger else None


def rows_laid_behind(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> tuple[Op, Op] | None:
    """One number for each row with an axis too many, `[B, 1, 1]`, that meets `[B, T]`: every row of every other."""
    sides = sorted((i for i in graph.inputs(op) if i.floating and i.shape), key=lambda side: len(side.shape))
    if len(sides) != 2 or len(sides[0].shape) < 2 or len(sides[1].shape) != len(sides[0].shape) + 1:
        return None
    steps, column = sides
    rows = column.shape[0]
    fits = rows > 1 and prod(column.shape) == rows == steps.shape[0] and op.shape == (rows, *steps.shape)
    alone = prod(steps.shape) > rows and steps.live and not column.live
    return (steps, column) if fits and alone and are_pairs_in_vain(graph, op, within) else None


def levels_along_targets(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[Meeting]:
    """Quantile levels that vary along the axis of the targets. In `levels - (target - predicted < 0)` of pairs, each
    prediction has a level of its own; laid along the other axis, all predictions have all levels."""
    for op in graph.named(within, ("sub", "rsub", "where")):
        if op.live or len(op.shape) < 2:
            continue
        sides = list(graph.inputs(op))
        for sign in sides:
            errors = _error_behind(graph, sign)
            if errors is None:
                continue
            for levels in sides:
                if levels.nid == sign.nid or not levels.floating:
                    continue
                along = varies_along(levels.shape, op.shape)
                if _axes_of_pairs(graph, errors, op, along):
                    yield Meeting(op, levels, errors)


def _error_behind(graph: Provenance, sign: Op) -> Op | None:
    """The difference of which this is the sign, as 0 or 1."""
    seen = behind_all(graph, sign, SHAPING | TAKEN_OUT)
    if seen is None or seen.name not in COMPARING:
        return None
    error = next(graph.inputs(seen), None)
    while error is not None and error.name in SHAPING | TAKEN_OUT and error.shape == sign.shape:
        error = next(graph.inputs(error), None)
    return (
        error if error is not None and error.name in ("sub", "rsub") and error.shape == sign.shape else None
    )


def _axes_of_pairs(graph: Provenance, error: Op, op: Op, along: set[int]) -> bool:
    """Whether `along` has the axis of the targets, and not that of the predictions."""
    sides = list(graph.inputs(error))
    if len(sides) != 2 or sides[0].live == sides[1].live or error.shape != op.shape:
        return False
    predicted, target = sides if sides[0].live else (sides[1], sides[0])
    own, others = (varies_along(s.shape, error.shape) for s in (predicted, target))
    return bool(along & (others - own)) and not along & (own - others) and bool(own - others)


def is_only_averaged(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> bool:
    """Whether a sum of pairs is added to others, scaled, and averaged over all of them: the mean of all sums is the sum
    of both means, so nothing comes of the pairs."""
    stack, seen = [op], set[ValueId]()
    while stack:
        value = stack.pop()
        if value.nid in seen:
            continue
        seen.add(value.nid)
        scaled = value.name in ("mul", "div") and (len(value.inputs) == 1 or bool(value.facts.operand))
        if value.name not in ("add", "sub", "rsub", "neg") and not scaled:
            return False
        users = [within[n] for n in graph.consumers.get(value.nid, ()) if n in within]
        stack += [user for user in users if user.name != "mean" or user.shape]
        if not users:
            return False
    return True
