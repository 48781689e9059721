"""A policy's probabilities as live weights in what a critic fits: in an expected value, a trace, a correction.

The policy has a term of its own, which takes what the critic says as numbers: its score times something that the
critic's parameters made, cut off. So the two were meant to be parted, and a fit of the critic that trains the policy
through a weight is parted on one side only. Gates and mixtures of experts learn through the values they weigh, and have
no such term.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge import flow
from gradsan.judge.leaks.expectations import BENDING
from gradsan.judge.leaks.live_targets import PROBABILITIES
from gradsan.judge.leaks.target_sides import live_target
from gradsan.judge.ledger import Contribution
from gradsan.judge.provenance import Provenance
from gradsan.judge.residuals import residuals
from gradsan.record.events import Op, ParamId, Site, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

# From probabilities to weights made of them: ratios, limits, the steps between sums of fractions.
ELEMENTWISE = (
    flow.SHAPING
    | flow.SELECTING
    | {"exp", "add", "sub", "rsub", "neg", "mul", "div", "clamp", "min", "minimum", "clamp_max", "clamp_min"}
    | {"cumsum", "cumprod", "cat", "stack", "pow", "sum"}
)

SOME = 4


class FittedWeight(NamedTuple):
    product: Op
    weight: Op
    fit: Op  # the operation that bends what the product is part of
    score: Op  # the policy's own term: it weighs this with a number of the critic's
    pids: set[ParamId]


def fitted_weights(history: History, contribution: Contribution) -> list[FittedWeight]:
    """To be read, not to be changed: two rules ask."""
    key = ("fitted weights", contribution.bid)
    known: list[FittedWeight] | None = history.graph.remembered.get(key)
    if known is None:
        known = history.graph.remembered[key] = list(_found(history, contribution))
    return known


def _found(history: History, contribution: Contribution) -> Iterator[FittedWeight]:
    graph, consumed = history.graph, contribution.consumed_pids()
    within = graph.live_ancestors(root.nid for root in contribution.event.roots)
    scores, told = _own_terms(history, contribution), set[ValueId]()
    products = graph.named(within, ("mul", "div")) if scores else []
    for product in _some_of_each_line(products):
        sides = list(graph.inputs(product))
        if len(sides) != 2 or sides[0].nid == sides[1].nid:
            continue
        if told and told & graph.live_ancestors([product.nid]).keys():
            continue
        for weight, other in (sides, sides[::-1])[: 1 if product.name == "div" else 2]:
            fit = _fit(graph, product, other, within) if _is_weight(graph, weight) else None
            if fit is None or graph.is_hidden([fit.nid]):
                continue
            found = _parted_from(graph, weight, fit, scores, consumed)
            if found is not None and _in_targets(history, contribution).isdisjoint((product.nid, weight.nid)):
                told.add(product.nid)
                yield FittedWeight(product, weight, fit, *found)


def _in_targets(history: History, contribution: Contribution) -> set[ValueId]:
    """What live targets are made of: GS301 tells those."""
    graph, consumed = history.graph, contribution.consumed_pids()
    found = residuals(graph, [root.nid for root in contribution.event.roots])
    terms = [term.op.nid for residual in found for term in live_target(graph, residual, consumed)]
    return set(graph.live_ancestors(terms))


def _parted_from(
    graph: Provenance, weight: Op, fit: Op, scores: list[tuple[Op, set[ParamId]]], consumed: set[ParamId]
) -> tuple[Op, set[ParamId]] | None:
    """The policy's own term, and its parameters that the fit trains through the weight alone."""
    mine = graph.live_params([weight.nid])
    within = graph.live_ancestors([fit.nid])
    for score, taken in scores:
        critic = (graph.live_params([fit.nid]) - mine) & taken & consumed
        if critic and graph.live_params([score.nid]) == mine:
            users = flow.param_users(graph, within, critic)
            trunk = graph.live_params([op.nid for op in users if op.live])
            if pids := (mine - trunk) & consumed:
                return score, pids
    return None


def _own_terms(history: History, contribution: Contribution) -> list[tuple[Op, set[ParamId]]]:
    """Of the losses of this iteration: live scores that are averaged with constants, and who made the constants."""
    graph, found = history.graph, list[tuple[Op, set[ParamId]]]()
    for other in history.ledger.recent.values():
        if other.iteration != contribution.iteration or not other.consumed_pids():
            continue
        within = graph.live_ancestors(root.nid for root in other.event.roots)
        for op in _some_of_each_line(graph.named(within, ("mul",))):
            live = [i for i in graph.inputs(op) if i.live]
            constant = [i for i in graph.inputs(op) if not i.live and i.floating]
            if len(live) != 1 or len(constant) != 1 or not _is_weight(graph, live[0]):
                continue
            taken = graph.value_params([constant[0].nid]) - graph.live_params([live[0].nid])
            if taken and flow.is_averaged(graph, op, within):
                found.append((live[0], taken))
    return found


def _some_of_each_line(ops: list[Op]) -> list[Op]:
    """The first ones: a rollout runs a line a thousand times, and does the same every time."""
    lines = Counter[Site]()
    found = []
    for op in sorted(ops, key=lambda op: op.nid):
        lines[op.site] += 1
        if lines[op.site] <= SOME:
            found.append(op)
    return found


def _is_weight(graph: Provenance, op: Op) -> bool:
    """Made of probabilities, element by element, on every way that gradient takes."""
    stack, seen = [op], set[ValueId]()
    while stack:
        current = stack.pop()
        if current.nid in seen or not current.live:
            continue
        seen.add(current.nid)
        if current.name in PROBABILITIES or "log_prob" in current.tags:
            continue
        if current.name not in ELEMENTWISE or not current.inputs:
            return False
        stack.extend(graph.inputs(current))
    return bool(seen) and op.live


def _fit(graph: Provenance, product: Op, other: Op, within: dict[ValueId, Op]) -> Op | None:
    """What bends a value with this product in it; or the error itself, where that is what was weighed."""
    other = flow.unshaped(graph, other)
    if other.live and other.name in BENDING:
        return other
    users = flow.users_through(graph, product, within, flow.AVERAGING)
    return next((user for user in users if user.name in BENDING), None)


def made_for_it(graph: Provenance, found: FittedWeight) -> Op | None:
    """The expression that made the weight, where the policy's own term does not need that live, too."""
    op, needed = found.weight, graph.live_ancestors([found.score.nid])
    while op.name in flow.SHAPING | flow.SELECTING | {"mul", "div"} and op.nid not in needed:
        live = [i for i in graph.inputs(op) if i.live]
        if len(live) != 1:
            break
        op = live[0]
    return None if op.nid in needed else op
