"""`reward + discount * mask * (probs * q).mean()`: one number for the whole batch, where each row has a next value.

That the number is masked row by row tells that it was meant for each: what is added to all alike (a bonus, an average
reward) is not."""

from __future__ import annotations

from gradsan.judge.flow import is_averaged
from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import RESHAPING, ROWS, SPREADING, UNITS, Roles, onward
from gradsan.record.events import Op, ValueId

SMALLEST = {"min", "max", "amin", "amax"}
POOLING = {"mean", "sum"} | SMALLEST
PASSING = {"detach", "float", "to", "neg", "div"} | RESHAPING | SPREADING


def added_to_every_row(
    graph: Provenance, op: Op, source: Op, within: dict[ValueId, Op], known: dict[ValueId, Roles]
) -> Op | None:
    """Where the mean or sum over rows and columns, or the smallest of all, becomes the next value of all rows."""
    words, shape = known[source.nid], source.shape
    if op.name not in POOLING or op.shape or op.live or not shape or shape[0] < 2 or words[0] != ROWS:
        return None
    if op.name not in SMALLEST and (words != (ROWS, UNITS) or shape[1] < 2):
        return None
    if len(shape) > 2 or not graph.value_params([op.nid]):
        return None
    stack, seen = [(op, False)], set[ValueId]()
    while stack:
        value, masked = stack.pop()
        for user in onward(graph, value, within):
            if user.nid in seen:
                continue
            seen.add(user.nid)
            others = [i for i in graph.inputs(user) if i.nid != value.nid and i.floating]
            of_rows = [i for i in others if i.shape[:1] == shape[:1]]
            data = [i for i in of_rows if not graph.value_params([i.nid])]
            if user.name == "mul" and data == of_rows:  # else it scales the next value of each row
                stack.append((user, masked or bool(data)))
            elif user.name == "add" and masked and data:
                return user
            elif user.name in PASSING and user.inputs[0] == value.nid:
                stack.append((user, masked))
    return None


def total_beside_rows(
    graph: Provenance, op: Op, source: Op, within: dict[ValueId, Op], known: dict[ValueId, Roles]
) -> Op | None:
    """Where the sum over rows and columns, as one number, is added to one live value for each row: what is bent after
    that is no sum of losses."""
    shape, words = source.shape, known[source.nid]
    of_units = words[-1:] == (UNITS,) and set(words[:-1]) == {ROWS}
    if op.name != "sum" or op.shape or not op.live or not of_units or min(shape) < 2:
        return None
    for user in onward(graph, op, within):
        others = [i for i in graph.inputs(user) if i.nid != op.nid and i.live and i.shape[:1] == shape[:1]]
        of_rows = [i for i in others if known[i.nid][:1] == (ROWS,)]
        if user.name == "add" and of_rows and not is_averaged(graph, user, within):
            return user
    return None
