"""What one rank of several has told that only a comparison with the others can judge."""

from __future__ import annotations

from gradsan.record.events import Collective, Group, OptimizerId, ParamId, RankStep, Site, Unreduced, Wrapped


class RankBook:
    def __init__(self) -> None:
        self.group: Group | None = None
        self.wrappers: dict[int, Wrapped] = {}
        self.steps: dict[tuple[OptimizerId, int], RankStep] = {}  # by iteration
        self.final: dict[OptimizerId, RankStep] = {}
        # What the script itself exchanges between ranks, and where.
        self.exchanged: dict[str, dict[ParamId, Site]] = {"gradient": {}, "weight": {}, "copy": {}}
        self.refused: set[int] = set()  # wrappers that would not go on

    def add(self, event: Group | Wrapped | Unreduced | Collective | RankStep) -> None:
        if isinstance(event, Group):
            self.group = event
        elif isinstance(event, Wrapped):
            self.wrappers[event.number] = event
        elif isinstance(event, Unreduced):
            self.refused.add(event.wrapper)
        elif isinstance(event, Collective):
            self.exchanged[event.of].update(dict.fromkeys(event.params, event.site))
        elif event.last:
            self.final[event.oid] = event
        else:
            self.steps.setdefault((event.oid, event.iteration), event)

    def wrapper_of(self, pid: ParamId) -> Wrapped | None:
        """The newest one that holds it."""
        return next((w for w in reversed(self.wrappers.values()) if pid in w.params), None)
