"""What the axes of a value are: rows that a layer was given, or the units of the layer that made it.

A linear layer keeps all axes of its input but the last, and makes a new last one. So the axes of everything that
is computed from its output can be told apart: `ROWS` (samples, steps, agents) and `UNITS` (actions, dimensions of
an action). Where an operation leaves it open which axis is which, nothing is known from there on.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ValueId

ROWS, UNITS, UNKNOWN = "rows", "units", ""
Roles = tuple[str, ...]
LAYERS = {"linear", "matmul", "mm", "addmm"}
BATCHED = {"bmm", "baddbmm", "matmul"}  # with weights for every member of an ensemble
ATTENDING = "scaled_dot_product_attention"
RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")
ELEMENTWISE = {
    "add", "sub", "rsub", "mul", "div", "rdiv", "minimum", "maximum", "min", "max", "where", "pow", "lerp", "addcmul",
}  # fmt: skip
UNARY = {
    "neg", "exp", "log", "tanh", "relu", "sigmoid", "softplus", "clamp", "abs", "sqrt", "log1p", "expm1", "square",
    "sign", "gelu", "silu", "elu", "leaky_relu", "softmax", "log_softmax", "dropout", "layer_norm", "logsigmoid",
    "detach", "data", "clone", "contiguous", "to", "float", "double", "type", "nan_to_num", "masked_fill", "atanh",
    "reciprocal", "rsqrt", "requires_grad_", "gumbel_softmax", "cpu", "cuda", "type_as", "log_sigmoid",
}  # fmt: skip
COMPARING = {"lt", "le", "gt", "ge"}
SPREADING = {"expand", "expand_as", "broadcast_tensors", "broadcast_to"}
RESHAPING = {
    "view",
    "reshape",
    "squeeze",
    "unsqueeze",
    "flatten",
    "unflatten",
    "view_as",
    "reshape_as",
    "ravel",
}
TAKING = {"getitem", "split", "chunk", "narrow", "index_select"}
BY_SIZE = ELEMENTWISE | UNARY | COMPARING | SPREADING
KEEPS_PLACES = BY_SIZE | {"gather", "cat"}


def roles(graph: Provenance, within: dict[ValueId, Op]) -> dict[ValueId, Roles]:
    """For every one of these values, one word per axis. Values are numbered in the order they were made."""
    asked: tuple[dict[ValueId, Op], dict[ValueId, Roles]] | None = graph.remembered.get("axes")
    if asked is not None and asked[0] is within:  # two rules ask, one after the other
        return asked[1]
    known: dict[ValueId, Roles] = {}
    for nid in sorted(within):
        op = within[nid]
        found = handed_on(graph, op, known) if op.kind == "operation" else ()
        known[nid] = found if len(found) == len(op.shape) else (UNKNOWN,) * len(op.shape)
    graph.remembered["axes"] = within, known
    return known


def handed_on(graph: Provenance, op: Op, known: dict[ValueId, Roles]) -> Roles:
    """The words for the axes of a result, from those of what it was made of."""
    inputs = [graph.ops[nid] for nid in op.inputs if nid in known]
    if op.name in LAYERS and any(i.kind == "parameter" and len(i.shape) == 2 for i in inputs):
        return (ROWS,) * (len(op.shape) - 1) + (UNITS,)
    if op.name == ATTENDING and inputs and len(inputs[0].shape) == len(op.shape):
        return (*known[inputs[0].nid][:-1], UNITS)
    if op.name in BATCHED and len(op.shape) == 3 and any(_has_members(i) for i in inputs):
        return (UNKNOWN, ROWS, UNITS)
    if not inputs or op.name in RECURRENT:
        return ()
    first, before = inputs[0], known[inputs[0].nid]
    if op.facts.axes and (op.name not in KEEPS_PLACES or len(first.shape) != len(op.shape)):
        return _after_running(op, first, before)
    if op.name in BY_SIZE:
        if all(i.shape == op.shape and known[i.nid] == before for i in inputs):
            return before
        return tuple(_agreed(op, inputs, known))
    if op.name in ("gather", "cat"):
        return tuple(
            UNKNOWN if a in op.facts.axes and op.name == "gather" else r for a, r in enumerate(before)
        )
    if op.name in TAKING and len(first.shape) == len(op.shape):
        return before
    return _reshaped(op, first, before) if op.name in RESHAPING or op.name in TAKING else ()


def _has_members(weight: Op) -> bool:
    return weight.kind == "parameter" and len(weight.shape) == 3 and weight.shape[0] > 1


def _after_running(op: Op, first: Op, before: Roles) -> Roles:
    """A reduction leaves its axes out, or keeps them with one element."""
    if op.name == "stack":
        return (*before[: op.facts.axes[0]], UNKNOWN, *before[op.facts.axes[0] :])
    if len(first.shape) == len(op.shape):
        return tuple(r if op.shape[a] == first.shape[a] else UNKNOWN for a, r in enumerate(before))
    return tuple(r for a, r in enumerate(before) if a not in op.facts.axes)


def _agreed(op: Op, inputs: list[Op], known: dict[ValueId, Roles]) -> Iterator[str]:
    """Axis by axis, from the back, what the operands that are not spread along it say."""
    for place in range(-len(op.shape), 0):
        words = {
            known[i.nid][place]
            for i in inputs
            if len(i.shape) >= -place and i.shape[place] == op.shape[place]
        }
        words.discard(UNKNOWN)
        yield words.pop() if len(words) == 1 else UNKNOWN


def _reshaped(op: Op, first: Op, before: Roles) -> Roles:
    """Axes of one element may come and go; where more changes, only the first axis is still known by its size."""
    wide = [(n, r) for n, r in zip(first.shape, before, strict=True) if n != 1]
    if [n for n, _ in wide] == [n for n in op.shape if n != 1]:
        left = iter([r for _, r in wide])
        return tuple(UNKNOWN if n == 1 else next(left) for n in op.shape)
    if op.name in TAKING or not op.shape or not first.shape or op.shape[0] != first.shape[0]:
        return ()
    kept = len(first.shape) - 1
    if before[-1] == UNITS and len(op.shape) > kept + 1 and op.shape[:kept] == first.shape[:kept]:
        return before[:-1] + (UNITS,) * (
            len(op.shape) - kept
        )  # the parts of an action, with the choices of each
    return (before[0],) + (UNKNOWN,) * (len(op.shape) - 1)


def varies_along(shape: tuple[int, ...], full: tuple[int, ...]) -> set[int]:
    """The axes of `full` along which a value of `shape` that is broadcast to it is not the same everywhere."""
    pairs = zip_longest(reversed(shape), reversed(full), fillvalue=1)
    return {len(full) - 1 - place for place, (own, whole) in enumerate(pairs) if own == whole and own > 1}


def onward(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> Iterator[Op]:
    """What is made of a value on the way to the loss."""
    for nid in dict.fromkeys(graph.consumers.get(op.nid, ())):
        if nid in within:
            yield within[nid]
