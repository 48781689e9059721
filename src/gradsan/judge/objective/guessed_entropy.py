"""Entropies that are guessed from the log-probabilities of the actions taken.

The mean of -log p over a policy's own samples is its entropy. Where such a mean stands beside the policy's objective,
with a constant weight and the sign lost, each update makes whatever was done more likely, rewarded or not."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass

from gradsan.judge.flow import REDUCING, SHAPING, first_scalar
from gradsan.judge.history import History
from gradsan.judge.lines.source import around, bindings, names_in
from gradsan.judge.objective.ratios import clipped_ratio
from gradsan.judge.objective.scores import SURPRISES
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, Site, ValueId

PASSING = SHAPING | REDUCING | {"neg"}
RANDOM = {"randn", "randn_like", "normal", "rand", "rand_like", "multinomial", "bernoulli", "empty_like"}
RANDOM = RANDOM | {"exponential", "standard_normal"}


@dataclass(slots=True)
class Guess:
    """`score` is weighed by an objective (`weighed`) and has another way to the loss, with one weight for all."""

    score: Op
    weighed: Op
    first: Op  # on that way
    weight: float  # of the log-probability in the loss
    joined: Op | None  # where it was turned into an entropy first: the sum that takes it with the wrong sign


def guesses(history: History, roots: list[ValueId]) -> Iterator[Guess]:
    graph = history.graph
    within = graph.live_ancestors(roots)
    seen: set[ValueId] = set()
    for op in within.values():
        above, score = op, _weighed(graph, op)
        while score is not None:
            for nid in graph.consumers.get(score.nid, ()):
                if nid != above.nid and nid in within and nid not in seen:
                    seen.add(nid)
                    yield from _guess(history, score, op, within[nid], within, roots)
            above, sources = score, [s for s in graph.inputs(score) if s.live]
            score = sources[0] if score.name in PASSING and len(sources) == 1 else None


def _weighed(graph: Provenance, op: Op) -> Op | None:
    """What a weight for each sample is multiplied with, or a clipped ratio was made of."""
    if op.name in ("min", "minimum") and (ratio := clipped_ratio(graph, op)) is not None:
        apart = next(graph.inputs(ratio), None)
        live = [s for s in graph.inputs(apart) if s.live] if apart is not None and apart.name == "sub" else []
        return live[0] if len(live) == 1 else None
    sides = list(graph.inputs(op)) if op.name == "mul" else []
    live, constant = [s for s in sides if s.live], [s for s in sides if not s.live]
    return live[0] if len(live) == len(constant) == 1 and math.prod(constant[0].shape) > 1 else None


def _guess(
    history: History, score: Op, weighed: Op, first: Op, within: dict[ValueId, Op], roots: list[ValueId]
) -> Iterator[Guess]:
    graph, below, now = history.graph, score, [first]
    weight, sums = float(_sign_of_score(graph, score)), list[tuple[Op, float]]()
    while weight and len(now) == 1:
        op = now[0]
        if op.name in ("add", "sub", "rsub") and len(op.inputs) == 2:
            sums.append((op, weight))
        weight *= _factor(graph, op, below)
        if op.nid in roots and weight:
            joined = sums[0][0] if sums and sums[0][1] < 0.0 else None
            yield Guess(score, weighed, first, weight, joined)
            return
        below, now = op, [within[nid] for nid in graph.consumers.get(op.nid, ()) if nid in within]


def line_of_guess(history: History, guess: Guess) -> Site:
    """The sum that takes an entropy with the wrong sign; else where the log-probability is given out as an entropy,
    if only by another name (`entropy = log_prob`)."""
    if guess.joined is not None:
        return guess.joined.site
    seen = history.sites.get(guess.first.site)
    function, statement = around(seen.file, seen.line) if seen is not None else (None, None)
    if seen is None or statement is None:
        return guess.first.site
    made = history.sites.get(guess.weighed.site)
    known = names_in(weighing) if made and (weighing := around(made.file, made.line)[1]) else set()
    for name in names_in(statement) - known:
        for binding in bindings(seen.file, name):
            within, other = around(seen.file, binding.line)
            value = other.value if isinstance(other, ast.Assign) and within is function else None
            if isinstance(value, ast.Name) and value.id in known and binding.line < seen.line:
                return history.site_at(seen.file, binding.line, seen.function)
    return guess.first.site


def _factor(graph: Provenance, op: Op, source: Op) -> float:
    """What one operation multiplies all of it with; 0 where that is not one number, or not known."""
    if op.name in SHAPING | REDUCING:
        return 1.0
    if op.name == "neg":
        return -1.0
    if op.name == "rsub":
        return -1.0 if len(op.inputs) == 1 else 0.0
    if op.name in ("add", "sub"):
        sides = list(graph.inputs(op))
        if not all(side.live for side in sides) or len(op.inputs) > 2:
            return 0.0  # compared with a constant: a divergence
        return -1.0 if op.name == "sub" and len(sides) == 2 and sides[1].nid == source.nid else 1.0
    if op.name in ("mul", "div") and len(op.inputs) == 1 and op.facts.scalars and first_scalar(op):
        return first_scalar(op) if op.name == "mul" else 1.0 / first_scalar(op)
    return 0.0


def _sign_of_score(graph: Provenance, op: Op) -> int:
    """1 for a log-probability, -1 for one with its sign turned; 0 for other values."""
    signs, stack, seen = set[int](), [(op, 1)], set[ValueId]()
    while stack:
        now, sign = stack.pop()
        if now.nid in seen or not now.live:
            continue
        seen.add(now.nid)
        sides = [s for s in graph.inputs(now) if s.live]
        if "log_prob" in now.tags or now.name in ("log_softmax", "logsigmoid"):
            signs.add(sign)
        elif now.name in SURPRISES or now.name in ("pow", "square"):  # the exponent of a normal distribution
            signs.add(-sign)
        elif now.name in ("add", "sub") and len(now.inputs) == 2:
            turned = -sign if now.name == "sub" else sign
            stack += [(s, turned if s.nid == now.inputs[1] else sign) for s in sides]
        elif now.name in ("div", "mul") and sides and (len(sides) == 1 or now.name == "div"):
            scale = first_scalar(now) if len(now.inputs) == 1 and now.facts.scalars else 1.0
            stack.append((sides[0], sign if scale > 0.0 else -sign))
        elif now.name in PASSING | {"add", "sub", "gather", "getitem", "stack", "cat", "clamp"}:
            stack += [(s, -sign if now.name == "neg" else sign) for s in sides]
    return signs.pop() if len(signs) == 1 else 0


def is_of_own_samples(history: History, score: Op) -> bool:
    """Whether what is scored was drawn by chance from the same layers with the same weights: not a demonstration, nor
    what an earlier policy did."""
    layers, given = _next_weights(history, score, live=True)
    found: list[bool] = []
    for constant in given:
        weights, region = _next_weights(history, constant, live=False)
        drawn = any("sample" in op.tags or op.name in RANDOM for op in region)
        if drawn and weights:
            found.append(layers <= weights and _one_of_each(history, weights))
    return bool(layers) and bool(found) and all(found)


def _next_weights(history: History, start: Op, live: bool) -> tuple[set[ValueId], list[Op]]:
    """The weights next to a value; and the constants that it meets before (of a constant: what it was made with)."""
    graph, stack = history.graph, [start]
    weights, others, seen = set[ValueId](), list[Op](), set[ValueId]()
    while stack:
        op = stack.pop()
        if op.nid in seen:
            continue
        seen.add(op.nid)
        if live and not op.live:
            others.append(op)
            continue
        if not live:
            others.append(op)
        sources = list(graph.inputs(op))
        own = {s.nid for s in (op, *sources) if s.nid in history.param_nodes}
        weights |= own
        if not own or op.name in ("add", "sub", "mul", "div", "exp"):  # beside a weight that stands alone
            stack.extend(s for s in sources if s.nid not in own)
    return weights, others


def _one_of_each(history: History, weights: set[ValueId]) -> bool:
    """Whether no step came in between: it makes another value of each."""
    return len({history.param_nodes[nid][0] for nid in weights}) == len(weights)
