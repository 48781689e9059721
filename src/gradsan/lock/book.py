"""What is known of one loss, in numbers of parameters and optimizers: names are given at the end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from gradsan.lock.identity import Identity
from gradsan.lock.paths import GradientWay
from gradsan.record.events import OptimizerId, ParamId, Site


@dataclass(slots=True)
class LossBook:
    identity: Identity
    site: Site
    trains: set[ParamId] = field(default_factory=set)
    fed: set[ParamId] = field(default_factory=set)
    optimizers: set[OptimizerId] = field(default_factory=set)
    by_hand: bool = False
    clips: dict[str, set[ParamId]] = field(default_factory=dict)
    limits: dict[str, set[float]] = field(default_factory=dict)
    per_step: Counter[int] = field(default_factory=Counter)  # how many of its backwards one step took
    stays: bool = False  # a step took what an earlier step had taken
    errors: set[str] = field(default_factory=set)
    ways: dict[GradientWay, set[ParamId]] = field(default_factory=dict)
    constants: dict[str, set[ParamId]] = field(default_factory=dict)
    shapes: Counter[str] = field(default_factory=Counter)
    reaches_back: bool = False  # into earlier iterations
    forms: set[int] = field(default_factory=set)  # sizes of graphs that were looked at
    whole: bool = False  # all operations of these looks were traced
    looks: int = 0
    seen: int = 0

    def start_anew(self) -> None:
        """What was seen of a graph that was traced in part is not worth keeping beside a whole one."""
        self.ways.clear()
        self.constants.clear()
        self.shapes.clear()
        self.looks, self.whole, self.reaches_back = 0, True, False

    def mentioned(self) -> set[ParamId]:
        """The parameters that anything is known about."""
        ways = {pid for way, pids in self.ways.items() for pid in (*way.via, *pids)}
        return self.fed | self.trains | ways | {pid for pids in self.constants.values() for pid in pids}
