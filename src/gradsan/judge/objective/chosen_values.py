"""`log_prob(a) * (q[a] - baseline)`, `log_prob(a) * exp(q(s, a) - v(s))`, `log_prob(a) * (returns - v(s))`: a choice
weighed with what a critic gives to it, or with what came back less what a critic gives to the state it was made in."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from gradsan.judge.flow import BOUNDING, REDUCING, SELECTING, SHAPING, TAKEN_OUT
from gradsan.judge.history import History
from gradsan.judge.meaning import layer
from gradsan.judge.objective.score_functions import score_sign, sign_in_loss, sign_of_step
from gradsan.judge.objective.scores import chooses
from gradsan.judge.provenance import Provenance
from gradsan.judge.returns.rollout_order import TOGETHER
from gradsan.judge.shapes.normalised_otherwise import choices_of
from gradsan.record.events import Op, ParamId, ValueId

PICKING = ("gather", "take_along_dim")
KEPT = SHAPING | TAKEN_OUT | {"alias"}


class ChosenValue(NamedTuple):
    """The loss rises (`sign` 1) or falls with the log-probability of a choice where that is better than expected, which
    a `value` tells."""

    product: Op
    score: Op
    value: Op
    sign: int


def chosen_values(history: History, roots: list[ValueId], critics: set[ParamId]) -> Iterator[ChosenValue]:
    graph = history.graph
    for op in graph.named(graph.live_ancestors(roots), ("mul",)) if critics else ():
        sides = list(graph.inputs(op))
        if len(sides) != 2 or sides[0].live == sides[1].live:
            continue
        score, weight = sides if sides[0].live else sides[::-1]
        found = [
            (value, sign * better)
            for value, sign in _summands(graph, weight)
            if (better := _says(graph, score, value, critics))
        ]
        turned = score_sign(history, score) * sign_in_loss(history, op.nid, roots) if found else 0
        for value, sign in found:
            yield ChosenValue(op, score, value, turned * sign)


def _says(graph: Provenance, score: Op, value: Op, critics: set[ParamId]) -> int:
    """1 for what a critic gives to the choice, -1 for what it gives to the state; 0 for anything else."""
    if _is_beside_values(graph, value, critics):
        return 1
    if value.name in PICKING:
        choice = next((c for o in _behind(graph, score) if (c := _choice(graph, o)) is not None), None)
        same = choice is not None and _choice(graph, value) == choice
        return int(same and bool(graph.value_params([value.nid]) & critics))
    own = layer(graph, value.nid)
    one = value.shape[-1:] == (1,) and prod(value.shape) in (prod(score.shape), prod(score.shape[:-1]))
    if not own or not own <= critics or not one:
        return 0
    shown, told = shown_to(graph, score), shown_to(graph, value)
    if shown and told == shown:
        return -1
    return int(bool(shown) and not _parts(graph, told).isdisjoint(_scored(graph, score) - shown))


def _is_beside_values(graph: Provenance, op: Op, critics: set[ParamId]) -> bool:
    """`advantages + values`: what the critic learns, and so the one is how much more came back than it expected."""
    if op.name in KEPT or op.live:
        return False
    sums = [user for nid in graph.consumers.get(op.nid, ()) if (user := graph.get(nid)) is not None]
    others = [
        o for s in sums if s.name == "add" and len(s.inputs) == 2 for o in graph.inputs(s) if o.nid != op.nid
    ]
    return any(_said(graph, other) <= critics and _said(graph, other) for other in others)


def _said(graph: Provenance, op: Op) -> set[ParamId]:
    """Whose output these very numbers are, put together or picked from; nobody's, where they were reckoned with."""
    found, stack, seen = set[ParamId](), [op], {op.nid}
    while stack:
        here = stack.pop()
        if own := layer(graph, here.nid):
            found |= own
        elif here.name not in KEPT | SELECTING | TOGETHER:
            return set()
        else:
            new = [i for i in graph.inputs(here) if i.floating and i.nid not in seen]
            seen.update(i.nid for i in new)
            stack += new
    return found


def _scored(graph: Provenance, score: Op) -> set[ValueId]:
    """What was given beside the network to make a log-probability: the choice is among it."""
    behind = graph.live_ancestors([score.nid]).values()
    given = [i for o in behind for i in graph.inputs(o) if not i.live and i.kind != "parameter"]
    return {before_picking(graph, i).nid for i in given if not graph.value_params([i.nid])}


def _parts(graph: Provenance, given: set[ValueId]) -> set[ValueId]:
    """`cat([state, action], -1)` shows both."""
    joined = [op for nid in given if (op := graph.get(nid)) is not None and op.name in TOGETHER]
    return {before_picking(graph, part).nid for op in joined for part in graph.inputs(op)}


def shown_to(graph: Provenance, op: Op) -> set[ValueId]:
    """What the networks behind a value were given, before rows were picked from it: of a critic that sees the choice,
    too, these are not the states alone."""
    behind = graph.ancestors([op.nid], lambda user, _: not chooses(user))
    layers = [o for o in behind.values() if any(i.kind == "parameter" for i in graph.inputs(o))]
    given = [i for o in layers for i in graph.inputs(o) if i.kind != "parameter"]
    return {before_picking(graph, i).nid for i in given if not graph.value_params([i.nid])}


def before_picking(graph: Provenance, op: Op) -> Op:
    """`obs[rows]` was `obs`; a slice, `obs[1:]`, is about other states."""
    while op.name in SHAPING or (op.name in ("getitem", "index_select") and len(op.inputs) == 2):
        source = graph.get(op.inputs[0])
        if source is None:
            break
        op = source
    return op


def _choice(graph: Provenance, op: Op) -> ValueId | None:
    return choices_of(graph, op) if op.name in PICKING else None


def _behind(graph: Provenance, op: Op) -> Iterator[Op]:
    """The value, and what it was before its form or its sign was changed."""
    while True:
        yield op
        sources = list(graph.inputs(op)) if op.name in KEPT | {"neg", "sum"} else []
        if len(sources) != 1:
            return
        op = sources[0]


def _summands(graph: Provenance, weight: Op) -> Iterator[tuple[Op, int]]:
    """Row by row: what was added up, with signs."""
    stack, seen = [(weight, 1)], set[ValueId]()
    while stack:
        op, sign = stack.pop()
        if op.nid in seen:
            continue
        seen.add(op.nid)
        yield op, sign
        sources = list(graph.inputs(op))
        if op.name in ("add", "sub") and len(sources) == 2:
            stack += [(sources[0], sign), (sources[1], -sign if op.name == "sub" else sign)]
        elif op.name in ("getitem", "index_select") and sources:
            stack.append((sources[0], sign))
        elif op.name in BOUNDING:  # of two critics
            stack += [(source, sign) for source in sources]
        elif op.name == "div" and sources:  # by a deviation
            stack.append((sources[0], sign))
        elif len(sources) == 1 and op.name not in REDUCING and (step := sign_of_step(op)):
            stack.append((sources[0], sign * step))
