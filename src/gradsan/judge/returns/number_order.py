"""Returns that were summed up in Python, from rewards that a world of the script's own gave as tensors.

Each reward leaves torch as a number, one after the other, and all returns come back at once. No environment has to be
known: the law `G = r + γ·G'` tells which return stands at which step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from gradsan.judge.flow import SHAPING, TAKEN_OUT
from gradsan.judge.history import History
from gradsan.judge.lines.arrival_lines import ARRIVING
from gradsan.judge.provenance import Provenance
from gradsan.judge.returns.rollout_order import FEWEST_STEPS, Disorder, How, is_in_order, is_scored
from gradsan.record.events import Backward, Op, ValueId

LEAVING = {"item", "float"}
NORMALISED = SHAPING | TAKEN_OUT | {"sub", "div", "mul", "neg", "clamp"}
EXACT = 1e-5
FEWEST_CARRIED = 4  # returns that hold a part of another


def number_disorders(history: History, event: Backward) -> Iterator[Disorder]:
    graph = history.graph
    for op in graph.named(graph.live_ancestors(root.nid for root in event.roots), ("mul",)):
        sides = list(graph.inputs(op))
        weights, scores = [s for s in sides if not s.live], [s for s in sides if s.live]
        if len(sides) != 2 or len(weights) != 1 or not is_scored(history, scores[0]):
            continue
        arrived = _arrived(graph, weights[0])
        if arrived is None or not is_in_order(graph, scores[0], len(arrived.facts.numbers)):
            continue
        for rewards in _left_before(graph, arrived):
            if how := _disorder(rewards, arrived.facts.numbers):
                yield Disorder(arrived, op, how, len(rewards))
                break


def _arrived(graph: Provenance, op: Op) -> Op | None:
    """The numbers that came back, behind what normalises them."""
    while (
        op.name in NORMALISED and (source := next((i for i in graph.inputs(op) if i.shape), None)) is not None
    ):
        op = source
    return op if op.name in ARRIVING and len(op.facts.numbers) >= FEWEST_STEPS else None


def _left_before(graph: Provenance, arrived: Op) -> Iterator[Sequence[float]]:
    """By line, the single numbers that have left since the same line took in others, where there is one for each."""
    since = max((o.nid for o in _earlier(graph, arrived)), default=ValueId(0))
    found: dict[int, list[float]] = {}
    for nid, op in graph.ops.items():
        if since < nid < arrived.nid and op.name in LEAVING and len(op.facts.numbers) == 1:
            found.setdefault(op.site, []).append(op.facts.numbers[0])
    return (numbers for numbers in found.values() if len(numbers) == len(arrived.facts.numbers))


def _earlier(graph: Provenance, arrived: Op) -> Iterator[Op]:
    here = (arrived.name, arrived.site)
    return (op for op in graph.ops.values() if (op.name, op.site) == here and op.nid < arrived.nid)


def _disorder(rewards: Sequence[float], returns: Sequence[float]) -> How | None:
    last_first, rewards_last_first = returns[::-1], rewards[::-1]
    if _obeys(rewards, returns):
        return None
    if _obeys(rewards, last_first):
        return "the other way round"
    return "from the front" if _obeys(rewards_last_first, last_first) else None


def _obeys(rewards: Sequence[float], returns: Sequence[float]) -> bool:
    """Whether each return is its reward and a share of the next one, or its reward alone where an episode ends."""
    slack = EXACT * max(1.0, max(map(abs, returns)))
    rests = [value - reward for value, reward in zip(returns, rewards, strict=True)]
    carried = [
        (rest, later) for rest, (_, later) in zip(rests, pairwise(returns), strict=False) if abs(rest) > slack
    ]
    if (
        abs(rests[-1]) > slack
        or len(carried) < FEWEST_CARRIED
        or any(abs(later) <= slack for _, later in carried)
    ):
        return False
    share = median(rest / later for rest, later in carried)
    return 0.05 < share < 1.0 + EXACT and all(abs(rest - share * later) <= slack for rest, later in carried)
