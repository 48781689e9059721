"""A sample's norms put together: by network, by optimizer."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import NamedTuple

from gradsan.judge.history import History
from gradsan.judge.report.wording import name_of
from gradsan.record.events import (
    Magnitude,
    OptimizerId,
    OptimizerSeen,
    ParamId,
    ParamNamed,
    ParamSeen,
    Sample,
    SiteSeen,
)

NAMING = (SiteSeen, ParamSeen, ParamNamed, OptimizerSeen)  # what a history must be told of to know names


class Norms(NamedTuple):
    """`update` is negative where nobody looked."""

    gradient: float
    weight: float
    update: float


def together(rows: Iterable[Magnitude]) -> Norms:
    """The norms of several parameters taken as one vector."""
    _, gradients, weights, updates = zip(*rows, strict=True)
    looked = all(not u < 0 for u in updates)
    return Norms(math.hypot(*gradients), math.hypot(*weights), math.hypot(*updates) if looked else -1.0)


def by_network(history: History, sample: Sample) -> dict[str, Norms]:
    rows: dict[str, list[Magnitude]] = {}
    for row in sample.norms:
        rows.setdefault(network(name_of(history, row[0])), []).append(row)
    return {name: together(members) for name, members in rows.items()}


def network(name: str) -> str:
    """`agent.q.0.weight` → `agent.q`: without the parameter's own name and layer numbers."""
    parts = name.split(".")[:-1] or [name]
    while len(parts) > 1 and parts[-1].isdigit():
        parts.pop()
    return ".".join(parts)


def optimizer_name(history: History, oid: OptimizerId, pids: Iterable[ParamId]) -> str:
    """An optimizer is known by what it trains: the part of the names that its parameters have in common."""
    networks = [network(name_of(history, pid)).split(".") for pid in pids]
    levels = itertools.takewhile(lambda parts: len(set(parts)) == 1, zip(*networks, strict=False))
    known = history.optimizers.get(oid)
    unnamed = f"{known.kind} {oid}" if known is not None else f"optimizer {oid}"
    return ".".join(parts[0] for parts in levels) or unnamed
