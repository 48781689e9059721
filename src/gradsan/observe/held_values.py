"""Values with a graph that the script keeps from iteration to iteration, in a list, a buffer, an attribute."""

from __future__ import annotations

import gc
import weakref
from types import FrameType
from typing import NamedTuple

import torch

from gradsan.observe.sites import Place
from gradsan.record.events import StillAlive

SPAN = 8  # iterations: many a script keeps a few on purpose
LOOKS = 16  # in a run: asking who holds a tensor goes through all objects
MOST = 4_096  # values that are followed
PER_LINE = 256  # of them are asked about


class Made(NamedTuple):
    value: weakref.ref[torch.Tensor]
    iteration: int


class HeldValues:
    """By weak reference, as everything here: a value that dies is forgotten."""

    def __init__(self) -> None:
        self._made: dict[Place, list[Made]] = {}
        self._told: set[Place] = set()
        self._iteration, self._count, self._looks = 0, 0, 0

    def made(self, value: torch.Tensor, place: Place) -> None:
        if self._count < MOST and place not in self._told:
            self._count += 1
            self._made.setdefault(place, []).append(Made(weakref.ref(value), self._iteration))

    def end_of_iteration(self) -> list[StillAlive]:
        """The lines of which so many iterations' values are alive that they will hardly ever be let go."""
        self._iteration += 1
        self._forget_dead()
        if self._looks >= LOOKS or not self._grown():
            return []
        self._looks += 1
        if gc.isenabled():
            gc.collect()  # garbage that waits to be collected is held by nobody
        self._forget_dead()
        return [self._tell(place) for place in self._kept_by_the_script(self._grown())]

    def _forget_dead(self) -> None:
        kept = {p: [m for m in made if m.value() is not None] for p, made in list(self._made.items())}
        self._made = {place: made for place, made in kept.items() if made}
        self._count = sum(map(len, self._made.values()))

    def _grown(self) -> list[Place]:
        """Values of the first of these iterations are still there, and so are those of half of the later ones: a
        short queue lets the first go."""
        return [
            place
            for place, made in self._made.items()
            if made[-1].iteration - made[0].iteration >= SPAN and 2 * len({m.iteration for m in made}) > SPAN
        ]

    def _kept_by_the_script(self, places: list[Place]) -> list[Place]:
        """Not those that only a graph keeps, for its own backward: no object of Python's refers to them."""
        oldest = [(place, made.value()) for place in places for made in self._oldest(place)]
        values = [value for _, value in oldest]
        ours = {id(values), *map(id, oldest)}
        holders = [h for h in gc.get_referrers(*values) if id(h) not in ours and not isinstance(h, FrameType)]
        held = {id(part) for part in gc.get_referents(*holders)}
        return list(dict.fromkeys(place for place, value in oldest if id(value) in held))

    def _oldest(self, place: Place) -> list[Made]:
        """A line may make many values, and the script keeps one of them."""
        made = self._made[place]
        return [m for m in made if m.iteration == made[0].iteration][:PER_LINE]

    def _tell(self, place: Place) -> StillAlive:
        made = self._made.pop(place)
        self._told.add(place)
        return StillAlive(place.site, len(made), len({m.iteration for m in made}), place.chain)
