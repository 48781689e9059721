"""The agents or copies of one environment, all at once: what a critic sees that is given everybody's observation."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import torch

from gradsan.observe.worlds.transitions import (
    GOES_ON,
    UNKNOWN,
    Index,
    Stream,
    TransitionKey,
    digest_of,
    is_array,
)


class Teams:
    """Streams of joint observations, next to those of the members: their steps have the same numbers."""

    def __init__(self) -> None:
        self.streams: dict[int, Stream] = {}
        self.members: dict[int, list[Stream]] = {}
        self.index = Index(self.streams)

    def meet(self, members: list[Stream]) -> Stream:
        number = members[0].number
        self.members[number] = members
        self.streams[number] = Stream(number)
        return self.streams[number]

    def step(self, team: Stream, digest: int, clock: int) -> Stream | None:
        """The team, as long as nobody has left it: then the numbers of their steps are no longer the same."""
        team.step(0.0, GOES_ON, digest, clock)
        if all(len(member.ends) == len(team.ends) for member in self.members[team.number]):
            return team
        self.forget(team)
        return None

    def forget(self, team: Stream) -> None:
        del self.streams[team.number], self.members[team.number]

    def place_of_member(self, place: TransitionKey | None, at: int) -> TransitionKey | None:
        """Where the team's step is that of one of its members."""
        members = self.members[place[0]] if place is not None else []
        return (members[at].number, place[1]) if place is not None and at < len(members) else None


def digest_of_all(observation: Any, names: Iterable[Any]) -> int:
    """Of what all of them see, one after the other."""
    if is_array(observation, "f") or isinstance(observation, torch.Tensor):
        return digest_of(observation)
    numpy = sys.modules.get("numpy")
    try:
        parts = [numpy.asarray(observation[name], "float32").ravel() for name in names] if numpy else []
        return digest_of(numpy.concatenate(parts)) if numpy else UNKNOWN
    except (TypeError, ValueError, KeyError, IndexError):
        return UNKNOWN
