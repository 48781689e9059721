"""Log-densities of a normal distribution that were written by hand, one for every dimension of the action.

Half the logarithm of 2π, or all of it where the sum is halved later, is added to nothing else but a density and an
entropy; and of the two only a density holds the square of what was drawn. Where the constants are left out, a square
that is divided by a spread stands beside the logarithm of that very spread."""

from __future__ import annotations

import math

from gradsan.judge import flow
from gradsan.judge.missing.half_cuts import BY_ELEMENT
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ValueId

HALF_LOG = 0.5 * math.log(2 * math.pi)
PRECISION = 1e-4  # people write 0.919
ADDING = {"add", "sub", "rsub"}
NOISE = {"randn", "randn_like", "normal", "normal_", "standard_normal"}
SCALED = flow.SHAPING | {"mul", "div", "neg"}
SPREAD = flow.SHAPING | {"mul", "div", "pow", "square", "add", "sqrt"}
DRAWN = {"sample", "rsample"}


def is_log_prob(graph: Provenance, op: Op) -> bool:
    """What a distribution said, or what was written in its place."""
    return "log_prob" in op.tags or is_written(graph, op)


def is_written(graph: Provenance, op: Op) -> bool:
    return _has_constants(graph, op) or _has_its_spread(graph, op)


def _has_constants(graph: Provenance, op: Op) -> bool:
    if op.name not in ADDING or len(op.facts.scalars) != 1 or len(op.inputs) != 1 or not op.shape:
        return False
    halves = abs(op.facts.scalars[0]) / HALF_LOG
    if min(abs(halves - 1), abs(halves - 2)) > PRECISION:
        return False
    return any(_is_square(behind) for behind in _by_element(graph, op).values())


def _has_its_spread(graph: Provenance, op: Op) -> bool:
    """`-(a - mu)² / (2 σ²) - log σ`, of which σ or its logarithm was made first."""
    sides = list(graph.inputs(op)) if op.name in ADDING and len(op.inputs) == 2 and op.shape else []
    for own, other in (sides, sides[::-1]) if len(sides) == 2 else ():
        spread = flow.unshaped(graph, own, SCALED)
        of_a_log = spread.name == "log"
        if other.shape != op.shape or not (of_a_log or _is_an_exponent(graph, spread)):
            continue
        spread = _unsquared(graph, next(graph.inputs(spread), spread)) if of_a_log else spread
        behind = graph.ancestors([other.nid], lambda user, _: user.name in BY_ELEMENT | flow.SHAPING)
        squares = [o for o in behind.values() if _is_square(o) and o.shape == op.shape]
        dividing = graph.named(behind, ("div", "mul") if not of_a_log else ("div",))
        if squares and any(_divides(graph, user, spread, of_a_log) for user in dividing):
            return True
    return False


def _is_an_exponent(graph: Provenance, op: Op) -> bool:
    """Whether its exponential was taken, perhaps of twice or minus it."""
    users = [user for nid in graph.consumers.get(op.nid, ()) if (user := graph.get(nid)) is not None]
    scaled = [nid for user in users if user.name in SCALED for nid in graph.consumers.get(user.nid, ())]
    further = (user for nid in scaled if (user := graph.get(nid)) is not None)
    return any(user.name == "exp" for user in (*users, *further))


def _divides(graph: Provenance, user: Op, spread: Op, of_a_log: bool) -> bool:
    """Whether something is divided by the spread, or multiplied by the exponential of minus its logarithm."""
    for by in list(graph.inputs(user))[1 if user.name == "div" else 0 :]:
        by = _unsquared(graph, by)
        if of_a_log and by.nid == spread.nid:
            return True
        if by.name == "exp" and flow.unshaped(graph, next(graph.inputs(by)), SCALED).nid == spread.nid:
            return True
    return False


def _unsquared(graph: Provenance, op: Op) -> Op:
    """σ, of σ², 2 σ² and σ² + 1e-8."""
    while op.name in SPREAD and (len(op.inputs) == 1 or len(set(op.inputs)) == 1):
        op = next(graph.inputs(op))
    return op


def _is_square(op: Op) -> bool:
    squared = op.name == "square" or (op.name == "pow" and op.facts.scalars == (2.0,))
    return squared or (op.name == "mul" and len(op.inputs) == 2 and op.inputs[0] == op.inputs[1])


def noise_in(graph: Provenance, op: Op) -> set[ValueId]:
    """What was drawn for it, element by element: the noise that was scaled and shifted, or a sample."""
    behind = _by_element(graph, op).values()
    return {o.nid for o in behind if o.name in NOISE or DRAWN.intersection(o.tags)}


def _by_element(graph: Provenance, op: Op) -> dict[ValueId, Op]:
    shape = op.shape
    return graph.ancestors([op.nid], lambda user, source: user.name in BY_ELEMENT and source.shape == shape)
