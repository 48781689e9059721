"""Log-probabilities of the parts of one action: put side by side, or summed over more than the parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.flow import SHAPING, TAKEN_OUT, users_through
from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import LAYERS, RESHAPING, ROWS, Roles, onward
from gradsan.judge.shapes.written_densities import is_log_prob, noise_in
from gradsan.record.events import NOTHING, Op, ValueId

PASSING = RESHAPING | {"neg", "add", "sub", "rsub", "to", "float", "clone", "contiguous", "exp", "clamp"}
ADDING = {"add", "sub", "rsub"}
SCALING = PASSING | {"mul", "div", "detach"}
DRAWING = frozenset({"sample", "rsample"})
PASSED_ON = SHAPING | TAKEN_OUT | {"stack", "cat", "clamp", "tensor", "as_tensor", "from_numpy"}


class SummedOver(NamedTuple):
    """A log-probability of every sample that was summed to one number, and the value per sample that it meets."""

    log_prob: Op
    total: Op
    where: Op
    weight: Op


def stacked_branches(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[Op]:
    """`torch.stack([d.log_prob(a) …], -1)` of several choices that are made from the very same features. Agents who
    see different things have an action, and a log-probability, each."""
    for op in within.values():
        if op.name != "stack" or len(op.shape) < 2 or op.facts.axes != (len(op.shape) - 1,):
            continue
        parts = list(graph.inputs(op))
        if len(parts) < 2 or not all("log_prob" in part.tags and part.live for part in parts):
            continue
        sources = {_features_of(graph, part) for part in parts}
        if len(sources) == 1 and NOTHING not in sources:
            yield op


def _features_of(graph: Provenance, log_prob: Op) -> ValueId:
    """What the layer was given whose output the distribution was made of."""
    stack, seen = [log_prob], set()
    while stack:
        op = stack.pop()
        if op.nid in seen or not op.live:
            continue
        seen.add(op.nid)
        inputs = list(graph.inputs(op))
        if op.name in LAYERS and any(i.kind == "parameter" for i in inputs):
            return next((i.nid for i in inputs if i.kind != "parameter"), NOTHING)
        stack.extend(inputs)
    return NOTHING


def summed_over_rows(
    graph: Provenance, within: dict[ValueId, Op], known: dict[ValueId, Roles]
) -> Iterator[SummedOver]:
    """The log-probabilities of a whole batch, as one number that meets something of every sample: a constant that
    weighs it, or that it has a ratio to, or what the very actions were worth that it is the log-probability of."""
    for op in within.values():
        if len(op.shape) < 2 or op.shape[0] < 2 or known[op.nid][0] != ROWS:
            continue
        if not is_log_prob(graph, op) and not _are_side_by_side(graph, op):
            continue
        drawn = drawn_in(graph, op) or noise_in(graph, op)
        for total in _totals(graph, op, within):
            met = _weight_of_each(graph, total, within, op.shape[0], drawn)
            if met is not None:
                yield SummedOver(op, total, *met)


def _are_side_by_side(graph: Provenance, op: Op) -> bool:
    """The log-probabilities of several steps, or of several parts of an action, of every row."""
    parts = list(graph.inputs(op)) if op.name in ("stack", "cat") and 0 not in op.facts.axes else []
    return len(parts) > 1 and all("log_prob" in part.tags and part.live for part in parts)


def _totals(graph: Provenance, log_prob: Op, within: dict[ValueId, Op]) -> Iterator[Op]:
    """Sums over everything, of the log-probability and what was added to it, element by element."""
    stack, seen = [log_prob], set()
    while stack:
        for user in onward(graph, stack.pop(), within):
            if user.nid in seen or "log_prob" in user.tags:
                continue
            seen.add(user.nid)
            if user.name == "sum" and not user.shape:
                yield user
            elif user.shape == log_prob.shape and (user.name in PASSING or _is_scaled(user)):
                stack.append(user)


def _is_scaled(op: Op) -> bool:
    """`-0.5 * (…)`: all of it alike."""
    return op.name in ("mul", "div") and len(op.inputs) == 1


def drawn_in(graph: Provenance, log_prob: Op, how: frozenset[str] = DRAWING) -> set[ValueId]:
    """The samples that were scored."""
    stack, seen, drawn = [log_prob], set(), set()
    while stack:
        op = stack.pop()
        if op.nid in seen:
            continue
        seen.add(op.nid)
        if how.intersection(op.tags):
            drawn.add(op.nid)
        elif "log_prob" in op.tags or op.name in PASSED_ON:
            stack.extend(graph.inputs(op))
    return drawn


def _is_a_ratio(graph: Provenance, difference: Op, within: dict[ValueId, Op]) -> bool:
    users = users_through(graph, difference, within, SHAPING | {"clamp"})
    return any(user.name == "exp" for user in users)


def _weight_of_each(
    graph: Provenance, total: Op, within: dict[ValueId, Op], samples: int, drawn: set[ValueId]
) -> tuple[Op, Op] | None:
    stack, seen = [total], set()
    while stack:
        value = stack.pop()
        for user in onward(graph, value, within):
            if user.nid in seen:
                continue
            seen.add(user.nid)
            others = [i for i in graph.inputs(user) if i.nid != value.nid and i.floating]
            of_each = [i for i in others if i.shape[:1] == (samples,)]
            weight = next((i for i in of_each if not i.live), None)
            if user.name == "mul" and value.live and weight is not None:
                return user, weight
            worth = next((i for i in of_each if drawn & graph.ancestors([i.nid]).keys()), None)
            if user.name in ADDING and worth is not None:
                return user, worth
            if user.name in ADDING and value.live and weight is not None and _is_a_ratio(graph, user, within):
                return user, weight
            if not user.shape and user.name in SCALING:
                stack.append(user)
    return None
