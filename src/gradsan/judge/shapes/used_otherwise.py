"""Who uses a result along another axis than the one it was made along: made over the batch, used for each row."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gradsan.judge.history import History
from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import BY_SIZE, RESHAPING, SPREADING, UNITS, Roles, onward
from gradsan.judge.shapes.joined_columns import of_joined_columns, side_by_side_user
from gradsan.judge.shapes.misread_gathers import reorders
from gradsan.judge.shapes.normalised_otherwise import expected_across, picked_across, picked_along
from gradsan.judge.shapes.pooling import pooled_for_each_row
from gradsan.judge.shapes.rows_and_units import (
    CHOSEN,
    CONSUMING,
    NORMALISING,
    SMALLER,
    has_rows_of,
    over_the_first_of_several,
    picks_by_rows,
    picks_one_of_each_row,
    runs_over_rows,
    runs_over_rows_of_members,
    takes_units,
)
from gradsan.record.events import Op, ValueId

MIXING = {"matmul", "mm", "bmm", "einsum", "linear", "addmm"}
COMBINING = {"add", "sub"}
Within = dict[ValueId, Op]
Known = dict[ValueId, Roles]


def used_along_another(history: History, op: Op, source: Op, within: Within, known: Known) -> Op | None:
    graph = history.graph
    used = (
        _pooled(graph, op, within)
        or picked_along(history, op, within)
        or picked_across(history, op, within)
        or expected_across(history, op, within, known)
    )
    if used is None and op.name in SMALLER and of_joined_columns(graph, op, source, known):
        used = op if _becomes_a_summand(graph, op, source, within) else None
    if used is None and op.name == "logsumexp":
        used = side_by_side_user(graph, op, source, within, known)
    if used is None and runs_over_rows_of_members(op, source, known):
        used = _smallest_for_all(graph, op, source, within)
    if used is None and over_the_first_of_several(op, source, known):
        used = _picked_everywhere(graph, op, within)
    if used is None and runs_over_rows(op, source, known):
        used = _misused(graph, op, source, within, known)
    return used


def _pooled(graph: Provenance, op: Op, within: Within) -> Op | None:
    """Attention whose weights were normalised over the batch."""
    over_rows = op.name == "softmax" and op.facts.axes == (0,) and len(op.shape) > 1
    return pooled_for_each_row(graph, op, within) if over_rows else None


def _misused(graph: Provenance, op: Op, source: Op, within: Within, known: Known) -> Op | None:
    if op.name in NORMALISING:
        return _used_along_units(graph, op, within, known)
    if op.name == "gather":
        return None if reorders(graph, op) else _first_column_only(op, source)
    if op.name == "mean":
        return _dueling(graph, op, source, within)
    if op.name == "logsumexp":
        return _chosen_from(graph, source, within) or _chosen_from_normalised(graph, op, source, within)
    if op.name == "cosine_similarity":
        return next(iter(onward(graph, op, within)), None)
    return _chosen_otherwise(graph, op, source, within, known)


def _used_along_units(graph: Provenance, op: Op, within: Within, known: Known) -> Op | None:
    """Who takes one of the units of each row, sums over them or samples one; nobody who is content with rows."""
    found, stack, seen = None, [op], set()
    while stack:
        for user in onward(graph, value := stack.pop(), within):
            if user.nid in seen:
                continue
            seen.add(user.nid)
            if user.name in MIXING or (user.name in CONSUMING and user.facts.axes == op.facts.axes):
                return None
            if takes_units(user, value, known) or picks_one_of_each_row(user, value):
                found = found or user
            elif user.name in BY_SIZE and user.shape == op.shape:
                stack.append(user)
    return found


def _picked_everywhere(graph: Provenance, op: Op, within: Within) -> Op | None:
    """Who picks a unit of every row there is, `probs.gather(-1, tokens)`, or makes a distribution of every row; what
    weighs rows to sum them up afterwards is attention, or a mixture."""
    found, stack, last = None, [op], (len(op.shape) - 1,)
    while stack:
        for user in onward(graph, value := stack.pop(), within):
            if user.name in MIXING or user.facts.axes == (0,):
                return None
            by_choice = user.name == "gather" and user.shape == (*value.shape[:-1], 1)
            if user.facts.axes == last and (by_choice or "distribution" in user.tags):
                found = found or user
            elif user.name in BY_SIZE - NORMALISING and user.shape == op.shape and len(user.inputs) == 1:
                stack.append(user)
    return found


def _first_column_only(op: Op, source: Op) -> Op | None:
    """`q.gather(0, a)` with an index for every row: of the columns, only the first is ever taken."""
    whole = op.facts.axes == (0,) and len(op.shape) == 2 and op.shape[1] == 1 < source.shape[1]
    return op if whole and op.shape[0] == source.shape[0] else None


def _dueling(graph: Provenance, op: Op, source: Op, within: Within) -> Op | None:
    """What is subtracted from its own source, in a sum that also holds one value for each row."""
    for user in onward(graph, op, within):
        if user.name != "sub":
            continue
        summands = list(_summands(graph, user))
        own = any(s.nid == source.nid for s in summands)
        column = (*source.shape[:1], *[1] * (len(source.shape) - 1))
        around = summands + [s for bigger in onward(graph, user, within) for s in _summands(graph, bigger)]
        if own and any(s.live and s.shape[:2] == column[:2] and s.name == "linear" for s in around):
            return user
    return None


def _summands(graph: Provenance, op: Op) -> Iterator[Op]:
    if op.name not in COMBINING:
        yield op
        return
    for part in graph.inputs(op):
        yield from _summands(graph, part)


def _chosen_otherwise(graph: Provenance, op: Op, source: Op, within: Within, known: Known) -> Op | None:
    """Elsewhere on the way to this loss, values of the same form are chosen from along their units."""
    if not _becomes_a_summand(graph, op, source, within):
        return None
    for other in within.values():
        given = next(graph.inputs(other), None)
        if other.name not in CHOSEN or given is None or given.nid not in known or given.nid == source.nid:
            continue
        last = len(given.shape) - 1
        along_units = other.facts.axes == (last,) and known[given.nid][-1:] == (UNITS,)
        if given.shape == source.shape and along_units:
            return other
    return None


def _chosen_from(graph: Provenance, source: Op, within: Within) -> Op | None:
    """Who takes one of the units of each row of the very same value."""
    last = (len(source.shape) - 1,)
    users = onward(graph, source, within)
    picked = (u for u in users if (u.name in CHOSEN and u.facts.axes == last) or picks_by_rows(u, source))
    return next(picked, None)


def _chosen_from_normalised(graph: Provenance, op: Op, source: Op, within: Within) -> Op | None:
    """The same, of `x - x.logsumexp(…)`: a log-softmax by hand."""
    users = onward(graph, op, within)
    made = (u for u in users if u.name == "sub" and source.nid in u.inputs and u.shape == source.shape)
    return next((chosen for u in made if (chosen := _chosen_from(graph, u, within)) is not None), None)


def _smallest_for_all(graph: Provenance, op: Op, source: Op, within: Within) -> Op | None:
    """The smallest value in the batch of each critic, as the target of every row."""
    return _summand(graph, op, within, lambda other: source.shape[1] in other.shape)


def _becomes_a_summand(graph: Provenance, op: Op, source: Op, within: Within) -> bool:
    """Whether it is scaled and added to something for each row that it is no part of: a target."""
    return _summand(graph, op, within, lambda other: has_rows_of(other, source, graph)) is not None


def _summand(graph: Provenance, op: Op, within: Within, has_rows: Callable[[Op], bool]) -> Op | None:
    stack, seen = [op], set()
    while stack:
        value = stack.pop()
        for user in onward(graph, value, within):
            if user.nid in seen:
                continue
            seen.add(user.nid)
            lessened = user.name == "sub" and user.inputs[0] == value.nid  # `next_q - alpha * log_prob`
            if user.name == "add" or lessened:
                others = [i for i in graph.inputs(user) if i.nid != value.nid and has_rows(i)]
                if others and not any(i.live or _is_part_of(graph, op, i) for i in others):
                    return user
            elif user.name in {"mul", "detach", "item", "float"} | RESHAPING | SPREADING:
                stack.append(user)
    return None


def _is_part_of(graph: Provenance, op: Op, other: Op) -> bool:
    """Whether both were made of the same: `q.max() - q` is a regret, and no target; nor is what is taken off before
    an exponential and added again."""
    return bool({op.nid, *op.inputs} & {other.nid, *graph.ancestors([other.nid])})
