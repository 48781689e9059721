"""What the environments of the script have said, transition by transition: rewards, ends, and digests of observations.

Observations are known by a digest of their numbers in single precision, which is what reaches a network; nothing of
them is kept. Each copy of an environment is a *stream* of its own, and holds a bounded number of transitions."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, TypeVar

import torch

from gradsan.observe.unseen import is_dense
from gradsan.record.events import End, Transition

KEPT = 32_768  # transitions of one stream
LARGEST = (
    8_192  # bytes of an observation; larger ones are pictures, which are scaled before they reach a network
)
ENDS: tuple[End, ...] = ("", "truncated", "terminated", "ended", "reset", "done")
GOES_ON, TRUNCATED, TERMINATED, ENDED, RESET, DONE = range(6)
UNKNOWN = 0  # a digest
NUMBERS = "?bBhHiIlLqQefd"  # types of arrays
WIDEST, MOST = 16, 2**31  # numbers of an action, and how large a whole one may be
FEWEST_IN_ORDER, DIFFERENT = 12, 4  # rows that are a rollout, and not by chance

Key = TypeVar("Key", int, float)
TransitionKey = tuple[int, int]  # the number of a stream, and of a transition in it


class Stream:
    """One copy of an environment."""

    __slots__ = (
        "_said",
        "_width",
        "acted",
        "clocks",
        "current",
        "ends",
        "first",
        "led_to",
        "number",
        "observed",
        "rewards",
    )

    def __init__(self, number: int) -> None:
        self.number = number
        self.first = 0  # the number of the oldest transition that is kept
        self.current = UNKNOWN
        self.rewards, self.ends = array("d"), bytearray()
        self.observed, self.led_to, self.clocks = array("q"), array("q"), array("q")
        self.acted = array("d")
        self._width = -1  # numbers of an action; 0: they are not kept, -1: nobody knows yet
        self._said = False  # the last one is over, by the only flag that there is

    def was_reset(self, digest: int) -> None:
        if (
            self.ends and self.ends[-1] == GOES_ON
        ):  # given up by the script: nobody knows how it would have gone on
            self.ends[-1] = ENDED
        elif self._said:
            self.ends[-1] = DONE
        self._said = False
        self.current = digest

    def step(
        self, reward: float, end: int, digest: int, clock: int, acted: Sequence[float] = (), begins_with: int = UNKNOWN
    ) -> None:  # fmt: skip
        """`digest`: of where it led; `begins_with`: of the observation that the next transition starts from, where
        that is another one."""
        if len(acted) == self._width:
            self.acted.extend(acted)
        else:
            self._act(acted, 1)
        self.observed.append(self.current)
        self.led_to.append(digest)
        self.rewards.append(reward)
        self.ends.append(end)
        self._said = end == ENDED
        self.clocks.append(clock)
        self.current = begins_with or digest
        if len(self.ends) >= 2 * KEPT:
            self._forget_half()

    def goes_on(
        self,
        rewards: Sequence[float],
        digests: Sequence[int],
        clocks: Sequence[int],
        ends: bytearray | None = None,
        acted: Sequence[float] = (),
    ) -> None:
        """Several steps at once, none of which ended an episode, or as `ends` says."""
        self._act(acted, len(digests))
        self.observed.append(self.current)
        self.observed.extend(digests[:-1])
        self.led_to.extend(digests)
        self.rewards.extend(rewards)
        self.ends.extend(bytes(len(digests)) if ends is None else ends)  # GOES_ON is 0
        self._said = False
        self.clocks.extend(clocks)
        self.current = digests[-1]
        if len(self.ends) >= 2 * KEPT:
            self._forget_half()

    def _act(self, acted: Sequence[float], steps: int) -> None:
        """Actions are kept as long as all have the same form."""
        if len(acted) != self._width * steps:
            self._width = len(acted) // steps if self._width < 0 else 0
            self.acted = array("d")
        if self._width > 0:
            self.acted.extend(acted)

    def count_ends(self) -> int:
        return len(self.ends) - self.ends.count(GOES_ON) - self.ends.count(RESET)

    def between_episodes(self) -> bool:
        return bool(self.ends) and self.ends[-1] not in (GOES_ON, RESET)

    def _forget_half(self) -> None:
        for column in (self.rewards, self.ends, self.observed, self.led_to, self.clocks):
            del column[:KEPT]
        del self.acted[: KEPT * max(0, self._width)]
        self.first += KEPT

    def transition(self, step: int) -> Transition:
        at = step - self.first
        return Transition(
            self.number,
            step,
            round_off(self.rewards[at]),
            ENDS[self.ends[at]],
            self.clocks[at],
            self._length(at),
            tuple([round_off(number) for number in self._action(at)]),
        )

    def _action(self, at: int) -> array[float]:
        width = max(0, self._width)
        return self.acted[at * width : (at + 1) * width]

    def _length(self, at: int) -> int:
        """Of the episode that ends here; 0 where it goes on, or where its beginning is forgotten."""
        if self.ends[at] == GOES_ON:
            return 0
        last = max(self.ends.rfind(end, 0, at) for end in (TRUNCATED, TERMINATED, ENDED, RESET, DONE))
        return at - last if last >= 0 or not self.first else 0


class Index:
    """Finds transitions by the observation they start from, or lead to. One that was met twice finds nothing, unless
    the whole batch is what was seen last, in its order. In a grid, `find_alike` finds steps that led to the same place
    for the same reward."""

    def __init__(self, streams: dict[int, Stream]) -> None:
        self._streams = streams
        self._from: dict[int, TransitionKey | None] = {}
        self._to: dict[int, TransitionKey | None] = {}
        self._arrivals: dict[int, list[TransitionKey]] = {}

    def look_for(self, digests: set[int]) -> None:
        """Those that will be asked for now: looks are rare, and a table of all would have to grow with every step."""
        self._from.clear()
        self._to.clear()
        self._arrivals.clear()
        wanted = (digests - {UNKNOWN}).__contains__
        for stream in self._streams.values():
            steps = range(len(stream.ends))
            for at in compress(steps, map(wanted, stream.observed)):
                _add(self._from, stream.observed[at], (stream.number, stream.first + at))
            for at in compress(steps, map(wanted, stream.led_to)):
                if stream.ends[at] != RESET:
                    place = stream.number, stream.first + at
                    _add(self._to, stream.led_to[at], place)
                    self._arrivals.setdefault(stream.led_to[at], []).append(place)

    def find(self, digests: list[int], leads_there: bool) -> list[TransitionKey | None]:
        table = self._to if leads_there else self._from
        found = [table.get(digest) for digest in digests]
        return (None in found and self._newest_in_order(digests, leads_there)) or found

    def find_alike(self, digests: list[int]) -> list[TransitionKey | None]:
        """For each row a step that led there, and another one for the next row like it. None where these steps were
        paid differently, or ended an episode at one time only: what the place says about them is not enough."""
        steps = {digest: self._of_one_kind(self._arrivals.get(digest, ())) for digest in set(digests)}
        turns: dict[int, int] = {}
        found: list[TransitionKey | None] = []
        for digest in digests:
            own, turn = steps[digest], turns.get(digest, 0)
            turns[digest] = turn + 1
            found.append(own[-1 - turn % len(own)] if own else None)
        return found

    def _of_one_kind(self, places: Sequence[TransitionKey]) -> list[TransitionKey]:
        ends: dict[int, list[TransitionKey]] = {}
        rewards = set[float]()
        for number, step in places:
            stream = self._streams[number]
            ends.setdefault(stream.ends[step - stream.first], []).append((number, step))
            rewards.add(stream.rewards[step - stream.first])
        if GOES_ON in ends and ends.keys() <= {GOES_ON, TRUNCATED, DONE, ENDED}:  # the clock's, or given up
            ends = {GOES_ON: ends[GOES_ON]}
        return next(iter(ends.values())) if len(ends) == len(rewards) == 1 else []

    def _newest_in_order(self, digests: list[int], leads_there: bool) -> list[TransitionKey | None]:
        """In a grid world places recur, but not a whole rollout: of one copy, or of all of them, step by step or copy
        by copy."""
        streams = list(self._streams.values())
        steps, rest = divmod(len(digests), len(streams) or 1)  # 1: all of them are forgotten
        if rest or steps < FEWEST_IN_ORDER or len(set(digests)) < DIFFERENT:
            return []
        columns = [(s.led_to if leads_there else s.observed)[-steps:].tolist() for s in streams]
        places = [[(s.number, s.first + len(s.ends) - steps + at) for at in range(steps)] for s in streams]
        if any(len(column) < steps for column in columns):
            return []
        if [digest for row in zip(*columns, strict=True) for digest in row] == digests:
            return [place for row in zip(*places, strict=True) for place in row]
        if [digest for column in columns for digest in column] == digests:
            return [place for column in places for place in column]
        return []


def rewards_found(streams: dict[int, Stream], wanted: set[float]) -> dict[float, TransitionKey | None]:
    """The steps that these rewards, in single precision, were given for; none where several were given the same."""
    found: dict[float, TransitionKey | None] = {}
    for stream in streams.values():
        rewards = array("f", stream.rewards)
        for at in compress(range(len(rewards)), map(wanted.__contains__, rewards)):
            _add(found, rewards[at], (stream.number, stream.first + at))
    return found


def _add(table: dict[Key, TransitionKey | None], key: Key, place: TransitionKey) -> None:
    table[key] = None if key in table else place


def digest_of(observation: Any) -> int:
    """Of its numbers, as a network would get them."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return UNKNOWN
    if isinstance(observation, torch.Tensor):
        if observation.device.type != "cpu" or not is_dense(observation):
            return UNKNOWN
        observation = observation.detach().numpy()
    elif isinstance(observation, list | tuple | float | int):
        observation = _as_array(observation, numpy)
    if not isinstance(observation, numpy.ndarray) or observation.nbytes > LARGEST:
        return UNKNOWN
    if observation.dtype.char != "f":
        if observation.dtype.kind not in "fiub":
            return UNKNOWN
        observation = observation.astype(numpy.float32)
    return hash(observation.tobytes())


def _as_array(numbers: Any, numpy: Any) -> Any:
    """Of plain numbers, in lists or not; nothing where it is no table, or would have to be asked what it is."""
    parts = [numbers]
    while parts:
        part = parts.pop()
        if type(part) in (list, tuple):
            parts += part
        elif type(part) is not numpy.ndarray and not isinstance(part, float | int | numpy.number):
            return None
    try:
        return numpy.asarray(numbers)
    except ValueError:  # rows of different lengths
        return None


def digests_of_copies(observations: Any) -> list[int] | None:
    """`digest_of` each of several side by side, at once; none where they are no array of single precision."""
    if not is_array(observations, "f") or observations.ndim < 2 or not len(observations):
        return None
    width = observations.nbytes // len(observations)
    if not 0 < width <= LARGEST:
        return None
    data = observations.tobytes()
    return [hash(data[at : at + width]) for at in range(0, len(data), width)]


def is_array(values: Any, kinds: str) -> bool:
    """Whether it is NumPy's, of one of these types."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(values) is numpy.ndarray and values.dtype.char in kinds


def digests_of_rows(batch: torch.Tensor) -> list[int]:
    rows = batch.detach().to(torch.float32).contiguous()
    data, width = rows.numpy().tobytes(), 4 * rows.shape[-1]
    return [hash(data[at : at + width]) for at in range(0, len(data), width)]


def round_off(number: float) -> float:
    """To the digits that single precision has: a trace need not hold more."""
    return float(f"{number:.9g}")


def numbers_of_action(action: Any) -> Sequence[float]:
    """Those of a small one; none where it is something else. Must not raise, nor run an operation of torch."""
    kind = type(action)
    form = _FORMS.get(kind) or _form_of(kind)
    if form == "number":
        return (float(action),)
    if form == "whole":
        return (float(action),) if -MOST < action < MOST else ()
    if form == "several":
        plain = 0 < len(action) <= WIDEST and {int, float}.issuperset(map(type, action))
        return [float(number) for number in action] if plain and max(map(abs, action)) < MOST else ()
    if form != "array" or action.size > WIDEST or action.dtype.char not in NUMBERS:
        return ()
    flat: list[float] = (action if action.ndim == 1 else action.reshape(-1)).tolist()
    return flat


_FORMS: dict[type, str] = {int: "whole", float: "number", list: "several", tuple: "several"}


def _form_of(kind: type) -> str:
    """Asked once for each type that an action has: it is taken at every step."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return "other"
    number = issubclass(kind, numpy.integer | numpy.floating)
    return _FORMS.setdefault(kind, "array" if kind is numpy.ndarray else "number" if number else "other")


def numbers_of(values: Any, convert: Callable[[Any], Any] = float) -> list[Any]:
    """A reward or a flag of each copy: an array, a tensor or a list."""
    plain = values.tolist() if hasattr(values, "tolist") else values
    return [convert(value) for value in plain]
