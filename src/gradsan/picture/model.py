"""The picture of a run as plain data. Renderers see this and the findings, and nothing else.

`findings` are positions in the list of findings of the same report.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gradsan.judge.report.findings import Location

NETWORK, VALUE, LOSS = "network", "value", "loss"
GRADIENT, CUT, DEAD = "gradient", "cut", "dead"


@dataclass(slots=True)
class Node:
    """A network, a value that a line of the user's computes, or the loss."""

    id: int
    kind: str
    label: str
    live: bool  # gradient flows through it
    where: Location | None = None
    group: int = 0
    roles: list[str] = field(default_factory=list)
    fate: str = ""  # what becomes of the gradient that arrives
    cut: str = ""  # what takes it out of the graph
    times: int = 1
    layers: list[str] = field(default_factory=list)
    findings: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Edge:
    """A value goes from `source` to `target`; where it is a "gradient" edge, gradient comes back."""

    source: int
    target: int
    kind: str
    label: str = ""
    findings: list[int] = field(default_factory=list)


@dataclass(slots=True)
class LossPicture:
    title: str
    where: Location | None
    call: str
    nodes: list[Node]
    edges: list[Edge]
    groups: dict[int, str] = field(default_factory=dict)  # networks that several nodes belong to
    findings: list[int] = field(default_factory=list)
    process: str = ""  # whose, where there are several


@dataclass(slots=True)
class TimelineEntry:
    """One thing that happened: its place in the order, and the optimizers that it concerns."""

    kind: str  # forward, backward, clip, step, zero_grad
    where: Location | None
    lanes: list[int]
    text: str
    times: int = 1
    findings: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Timeline:
    """`held[i][lane]`: lines whose backward is in the gradients of that optimizer after entry `i`;
    `spent[i][lane]`: a step has applied all of it already."""

    iteration: int = 0
    lanes: list[str] = field(default_factory=list)
    entries: list[TimelineEntry] = field(default_factory=list)
    held: list[list[list[int]]] = field(default_factory=list)
    spent: list[list[bool]] = field(default_factory=list)


@dataclass(slots=True)
class Chart:
    """Series over the iterations `x`; a gap is None."""

    title: str
    unit: str
    x: list[int]
    series: dict[str, list[float | None]]
    log: bool = False
    group: str = ""  # the network that a chart of layers belongs to
    process: str = ""


@dataclass(slots=True)
class Picture:
    losses: list[LossPicture] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    timeline: Timeline = field(default_factory=Timeline)
    deep: list[tuple[int, int]] = field(default_factory=list)  # stretches of deep attention
