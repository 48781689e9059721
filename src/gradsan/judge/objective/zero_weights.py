"""Weights of log-probabilities that are zero for every step, though the steps were worth different rewards. Whatever
computed them (NumPy, a normalisation along an axis of one element) has thrown the differences away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.history import History
from gradsan.judge.lines.helper_lines import helper_line
from gradsan.judge.objective.weighed import is_score, met_in, origin
from gradsan.judge.returns.numpy_targets import arrival
from gradsan.record.events import Backward, Op, Site

FEWEST = 8  # steps whose rewards are known


class ZeroWeights(NamedTuple):
    product: Op
    weight: Op
    site: Site  # of the line that made them
    steps: int


def zero_weights(history: History, event: Backward) -> Iterator[ZeroWeights]:
    for met in met_in(history, event):
        if (
            met.op.name != "mul"
            or met.constant is None
            or any(met.numbers)
            or not is_score(history, met.live)
        ):
            continue
        rows = history.experience.rows_behind(met.live, len(met.numbers)) or []
        rewards = [row.reward for row in rows if row is not None]
        # Where nothing was worth more than anything else, weights of zero are right.
        if len(rewards) >= FEWEST and max(rewards) > min(rewards):
            came = arrival(history, met.constant)
            made = origin(history, met.constant)
            yield ZeroWeights(
                met.op,
                met.constant,
                helper_line(history, came, made) if came is not None else made,
                len(rewards),
            )
