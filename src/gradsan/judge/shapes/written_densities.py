"""Log-densities of a normal distribution that were written by hand, one for every dimension of the action.

Half the logarithm of 2π, or all of it where the sum is halved later, is added to nothing else but a density and an
entropy; and of the two only a density holds the square of what was drawn."""

from __future__ import annotations

import math

from gradsan.judge.missing.half_cuts import BY_ELEMENT
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ValueId

HALF_LOG = 0.5 * math.log(2 * math.pi)
PRECISION = 1e-4  # people write 0.919
ADDING = {"add", "sub", "rsub"}
NOISE = {"randn", "randn_like", "normal", "normal_", "standard_normal"}
DRAWN = {"sample", "rsample"}


def is_log_prob(graph: Provenance, op: Op) -> bool:
    """What a distribution said, or what was written in its place."""
    return "log_prob" in op.tags or is_written(graph, op)


def is_written(graph: Provenance, op: Op) -> bool:
    if op.name not in ADDING or len(op.facts.scalars) != 1 or len(op.inputs) != 1 or not op.shape:
        return False
    halves = abs(op.facts.scalars[0]) / HALF_LOG
    if min(abs(halves - 1), abs(halves - 2)) > PRECISION:
        return False
    return any(_is_square(behind) for behind in _by_element(graph, op).values())


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
