"""Constants that meet a value with a graph on the way to a loss: the weights of log-probabilities, and targets."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from gradsan.judge.flow import JOINING, REDUCING, SELECTING, SHAPING, TAKEN_OUT, first_scalar
from gradsan.judge.history import History
from gradsan.judge.lines.arrival_lines import ARRIVING, made_at
from gradsan.judge.residuals import LIBRARY_LOSSES
from gradsan.judge.returns.return_laws import ReturnRow
from gradsan.record.events import Backward, Op, Site, ValueId

DIFFERENCES = {"sub", "rsub", *LIBRARY_LOSSES}
MEETING = DIFFERENCES | {"mul"}
LOGARITHMS = {"log_softmax", "log", "logsumexp", "cross_entropy", "nll_loss", "logsigmoid", "log_prob"}
FROM_LOG_PROB = (
    SHAPING | SELECTING | REDUCING | JOINING | {"exp", "sub", "add", "rsub", "neg", "mul", "div", "clamp"}
)
WRITTEN = {"setitem", "index_put", "copy"}
NORMALISING = {"sub", "div", "mul", "neg", "clamp"}


@dataclass(slots=True)
class Met:
    """`op` joins a value with a graph and a constant (a plain number, where `constant` is None)."""

    op: Op
    live: Op
    constant: Op | None
    numbers: tuple[float, ...]


def met_in(history: History, event: Backward) -> Iterator[Met]:
    graph, book = history.graph, history.experience
    for op in graph.named(graph.live_ancestors(root.nid for root in event.roots), MEETING):
        sides = [side for nid in op.inputs[:2] if (side := graph.get(nid)) is not None]
        live, constant = [s for s in sides if s.live], [s for s in sides if not s.live]
        if len(live) != 1 or len(sides) != len(op.inputs[:2]):
            continue
        if constant and (numbers := book.numbers.get(constant[0].nid)) is not None:
            yield Met(op, live[0], constant[0], numbers)
        elif not constant and op.name == "mul" and op.facts.scalars and math.prod(op.shape) == 1:
            yield Met(op, live[0], None, (first_scalar(op),))


def entries(history: History, met: Met) -> list[ReturnRow]:
    """Row by row, with the transitions they are about; none where that is not known."""
    book = history.experience
    rows = book.rows_behind(met.live, len(met.numbers))
    if rows is None:
        return []
    predictions: tuple[float | None, ...] = book.numbers.get(met.live.nid, ())
    if met.op.name == "mul" or len(predictions) != len(rows):
        predictions = (None,) * len(rows)
    sign = -1.0 if met.constant is not None and met.constant.name == "neg" else 1.0
    found = zip(rows, met.numbers, predictions, strict=True)
    return [ReturnRow(row, sign * number, prediction) for row, number, prediction in found if row is not None]


def not_normalised(history: History, met: Met) -> Met | None:
    """The same with the numbers that the constant had before it was normalised, where they are known."""
    graph, numbers, op = history.graph, history.experience.numbers, met.constant
    while op is not None and op.name in NORMALISING | SHAPING | TAKEN_OUT | {"alias"}:
        op = next((side for side in graph.inputs(op) if side.floating and not side.live), None)
        before = numbers.get(op.nid, ()) if op is not None else ()
        if op is not None and len(before) == len(met.numbers) and before != met.numbers:
            return Met(met.op, met.live, op, before)
    return None


def is_score(
    history: History,
    op: Op,
    through: Collection[str] = FROM_LOG_PROB,
    also: Callable[[Op], bool] = lambda op: False,
) -> bool:
    """A log-probability (or what is `also` one), or something made of one (a ratio) by the operations `through`."""
    graph, stack, seen = history.graph, [op], set[ValueId]()
    while stack:
        current = stack.pop()
        if current.nid in seen or not current.live:
            continue
        seen.add(current.nid)
        if current.name in LOGARITHMS or "log_prob" in current.tags or also(current):
            return True
        if current.name in through:
            stack.extend(graph.inputs(current))
    return False


def origin(history: History, constant: Op) -> Site:
    """The line that made a constant, before it was given another form, or normalised."""
    graph, op, site = history.graph, constant, constant.site
    while op.name not in ARRIVING and op.name in SHAPING | SELECTING | TAKEN_OUT | NORMALISING | JOINING | {
        "alias"
    }:
        floating = [source for source in graph.inputs(op) if source.floating and not source.live]
        if not floating:
            break
        # What was written into a buffer, not the buffer.
        op = floating[1] if op.name in WRITTEN and len(floating) > 1 else floating[0]
        site = op.site or site
    return made_at(history, op) if op.name in ARRIVING else site


def laid_out_at(history: History, constant: Op) -> Site:
    """The line that gave a constant its form, before it was normalised."""
    op = constant
    while op.name in NORMALISING:
        source = next((s for s in history.graph.inputs(op) if s.floating and not s.live), None)
        if source is None or source.shape != op.shape:
            break
        op = source
    return op.site
