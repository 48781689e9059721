"""Whether an operation runs over the rows that a layer was given or over the layer's units, and who takes these."""

from __future__ import annotations

from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import ROWS, UNITS, UNKNOWN, Roles
from gradsan.record.events import Op, ValueId

NORMALISING = {"softmax", "log_softmax"}
CHOOSING = {"max", "argmax", "amax"}
CHOSEN = {"gather", "argmax", "max", "amax"}
CONSUMING = CHOSEN | {"sum", "logsumexp", "cumsum"}
SMALLER = {"min", "amin", "max", "amax"}


def runs_over_rows(op: Op, source: Op, known: dict[ValueId, Roles]) -> bool:
    """Along axes that a layer was given, of several rows with several units each. What is chosen among agents or
    steps counts, too; a softmax over them is attention."""
    shape, words, axes = source.shape, known[source.nid], op.facts.axes
    fewest = 1 if op.name in NORMALISING else 2  # the softmax over one state is one, whatever it is given
    if len(shape) < 2 or shape[0] < fewest or shape[-1] < 2 or words[0] != ROWS or words[-1] != UNITS:
        return False
    if op.name in CHOOSING and len(shape) - 1 not in axes:
        return all(words[a] == ROWS and shape[a] > 1 for a in axes)
    if op.name == "log_softmax" and len(axes) == 1:  # no attention: that needs the weights themselves
        return words[axes[0]] == ROWS and (shape[axes[0]] > 1 or len(shape) == 2)
    return 0 in axes and (op.name not in NORMALISING or len(shape) == 2)


def over_the_first_of_several(op: Op, source: Op, known: dict[ValueId, Roles]) -> bool:
    """A softmax of `[B, T, A]` over the first axis: what PyTorch chooses where nobody says along which."""
    words = known[source.nid]
    ends = len(words) > 2 and (words[0], words[-1]) == (ROWS, UNITS)
    return ends and op.name == "softmax" and op.facts.axes == (0,) and source.shape[0] > 1


def runs_over_rows_of_members(op: Op, source: Op, known: dict[ValueId, Roles]) -> bool:
    """`[members, B]`, one value of each member of an ensemble for each row, and the smallest is one of the rows'."""
    if op.name not in SMALLER or 1 not in op.facts.axes or len(source.shape) not in (2, 3):
        return False
    if len(source.shape) == 3 and source.shape[2] > 1:
        return False
    return known[source.nid][:2] == (UNKNOWN, ROWS) and min(source.shape[:2]) > 1


def runs_over_one_unit(op: Op, source: Op, known: dict[ValueId, Roles]) -> bool:
    last = len(source.shape) - 1
    alone = last > 0 and source.shape[last] == 1 and known[source.nid][last] == UNITS
    return alone and op.name in NORMALISING and op.facts.axes == (last,)


def is_learned(graph: Provenance, op: Op) -> bool:
    """A score that a network gives and that another loss uses as a number; not the choice of a distribution."""
    return "distribution" not in op.tags and bool(graph.value_params([op.nid]))


def has_rows_of(other: Op, source: Op, graph: Provenance) -> bool:
    parts = list(graph.inputs(source)) if source.name == "cat" else []
    return any(other.shape[:1] == value.shape[:1] for value in (source, *parts))


def takes_units(user: Op, value: Op, known: dict[ValueId, Roles]) -> bool:
    last = len(value.shape) - 1
    return user.name in CONSUMING and user.facts.axes == (last,) and known[value.nid][last] == UNITS


def picks_one_of_each_row(user: Op, value: Op) -> bool:
    """`multinomial`, the parameters of a distribution, `x[torch.arange(n), a]`."""
    if user.name == "multinomial" or (
        "distribution" in user.tags and user.facts.axes == (len(value.shape) - 1,)
    ):
        return True
    if user.name == "getitem" and len(user.inputs) == 1 and value.shape[0] == 1 and len(value.shape) == 2:
        return not user.shape  # `x[0, i]` of a single row
    return picks_by_rows(user, value)


def picks_by_rows(user: Op, value: Op) -> bool:
    """`x[torch.arange(n), a]`; of `[B, A, N]` too, a distribution for each action."""
    return (
        user.name == "getitem" and len(user.inputs) == 3 and user.shape == value.shape[:1] + value.shape[2:]
    )
