"""Reads what `step` and `reset` of an environment return, and keeps it as streams of transitions.

Known forms: Gymnasium's five values, the older four, these without `info`, the same for several copies side by side
(arrays), and PettingZoo's parallel API (dictionaries by agent)."""

from __future__ import annotations

import math
import operator
import sys
import weakref
from array import array
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, Literal

import torch

from gradsan.observe.worlds import transitions as kept
from gradsan.observe.worlds.teams import Teams, digest_of_all
from gradsan.observe.worlds.transitions import Index, Stream, digest_of, numbers_of, numbers_of_action
from gradsan.record.events import Environment

MOST_COPIES = 64  # of one environment: those beyond are like them
LIBRARIES = ("gymnasium", "gym", "pettingzoo")
MOST_ENVIRONMENTS = 64
TOGETHER, BYTES_TOGETHER = 16_384, 4_194_304  # steps of several copies that wait, at most, and what they hold
PLAIN = {
    "float",
    "int",
    "float64",
    "float32",
    "bool",
    "bool_",
}  # types of rewards and flags: Python's, NumPy's
Acted = dict[Any, Sequence[float]]  # the numbers of each copy's action
Autoreset = Literal["", "next step", "same step"]


class _Copies:
    """The streams of one environment, by the name of the agent or the number of the copy."""

    def __init__(self, alone: bool, autoreset: Autoreset, leaving: bool = False) -> None:
        self.alone = alone  # not several side by side
        self.leaving = leaving  # an agent that is done is gone until `reset`, so what it saw last is an end
        self.autoreset = autoreset
        self.streams: dict[Any, Stream] = {}
        self.team: Stream | None = None
        # What a step returns, where the next one may be booked later: the type of its arrays, and what they hold.
        self.array: Any = None
        self.form: tuple[Any, ...] | None = None
        self._most = TOGETHER
        self._clear()

    def _clear(self) -> None:
        self._seen, self._earned, self._flags, self._clocks = (
            bytearray(),
            bytearray(),
            bytearray(),
            array("q"),
        )
        self._acted = bytearray()

    def may_wait(self) -> bool:
        """Whether a step can be booked later: none began or ended an episode, or nothing but the flags tells of it."""
        return self.autoreset == "next step" or not any(s.between_episodes() for s in self.streams.values())

    def wait_for(self, *arrays: Any) -> None:
        """Steps that return arrays like these are booked together with others."""
        self.array, self.form = type(arrays[0]), _form(*arrays)
        self._most = max(1, min(TOGETHER, BYTES_TOGETHER // max(1, arrays[0].nbytes)))

    def take(self, action: Any, result: Any, clock: Callable[[], int]) -> bool:
        """A step of all copies, to be booked later. False where that cannot be. Where it says "next step", the flags
        tell all about ends; else only those in the middle of an episode can wait."""
        if self.form is None or type(result) is not tuple or len(result) != 5:
            return False
        observation, reward, terminated, truncated, _ = result
        if not self.array is type(observation) is type(reward) is type(terminated) is type(truncated):
            return False
        if _form(observation, reward, terminated, truncated, action) != self.form:
            return False
        flags = terminated.tobytes() + truncated.tobytes()  # who has terminated, then who was truncated
        if b"\x01" in flags and self.autoreset != "next step":
            return False
        self._seen += observation.tobytes()
        self._earned += reward.tobytes()
        self._flags += flags
        self._acted += action.tobytes() if type(action) is self.array else b""
        self._clocks.append(clock())
        if len(self._clocks) >= self._most:
            self.book()
        return True

    def book(self) -> None:
        if not self._clocks or self.form is None:
            return
        (count,), kind = self.form[2], self.form[3].char
        (seen, flags), clocks = (bytes(self._seen), bytes(self._flags)), self._clocks
        rewards, actions = (
            array(kind, bytes(self._earned)),
            _side_by_side(self._acted, len(clocks), count, *self.form[8:]),
        )
        self._clear()
        digests = _digests(seen, len(clocks) * count)
        for at, stream in enumerate(self.streams.values()):
            terminated, truncated = flags[at :: 2 * count], flags[at + count :: 2 * count]
            ends = None
            if b"\x01" in terminated or b"\x01" in truncated or stream.between_episodes():
                ends = _ends_of(terminated, truncated, stream.between_episodes())
            acted = actions[:, at].reshape(-1).tolist() if actions is not None else ()
            stream.goes_on(rewards[at::count].tolist(), digests[at::count], clocks, ends, acted)
        if self.team is not None:
            small = len(seen) // len(clocks) <= kept.LARGEST
            joint = _digests(seen, len(clocks)) if small else array("q", [kept.UNKNOWN] * len(clocks))
            self.team.goes_on([0.0] * len(clocks), joint, clocks)


class Rollouts:
    def __init__(self, emit: Callable[[Environment], None], clock: Callable[[], int]) -> None:
        self._emit = emit
        self._clock = clock  # the newest value, where every operation is looked at
        self._environments: dict[int, tuple[Callable[[], Any], _Copies]] = {}
        self._alone: dict[int, tuple[Stream, Any, set[type]]] = {}
        self.streams: dict[int, Stream] = {}
        self.index = Index(self.streams)
        self.teams = Teams()
        self.widths: set[int] = set()  # how many numbers an observation has
        self._count = 0
        self._waiting: tuple[Callable[[], Any], Any] | None = None

    # -- the tap's ---------------------------------------------------------------------------------------

    def was_reset(self, env: Any, result: Any) -> None:
        known = self._environments.get(id(env))
        if known is None or known[0]() is not env:
            self._begins_with(env, result)
            return
        first = _first(result)
        known[1].book()
        known[1].form = None
        for name, stream in known[1].streams.items():
            stream.was_reset(digest_of(first if known[1].alone else _of_copy(first, name)))
        if known[1].team is not None:
            known[1].team.was_reset(digest_of_all(first, known[1].streams))

    def _begins_with(self, env: Any, result: Any) -> None:
        """Nobody knows yet whether it is an environment at all."""
        self._waiting = (_reference(env), _first(result))

    def stepped(self, env: Any, action: Any, result: Any) -> bool:
        """Whether this is what a step of an environment returns."""
        if type(result) is not tuple or not 3 <= len(result) <= 5:
            return False
        if len(result) == 3:
            if not _is_true_or_false(result[2]):
                return False
            result = (*result, None)
        known = self._environments.get(id(env))
        if known is None or known[0]() is not env:
            known = self._meet(env, result)
        if known is None:
            return False
        try:
            self._note(known[1], action, result)
        except (
            TypeError,
            ValueError,
            IndexError,
        ):  # it is no environment, or says something else every time
            known[1].streams.clear()
            self._alone.pop(id(env), None)
        return True

    def stepped_quickly(self, env: Any, action: Any, result: Any) -> bool:
        """The same in a microsecond or two, for the usual cases. False where it is another. Must not raise: nothing is
        around it."""
        known = self._environments.get(id(env))
        if known is None or known[0]() is not env:
            return False
        copies = known[1]
        if copies.alone:
            return self._stepped_alone(env, action, result)
        return copies.take(action, result, self._clock)

    def _stepped_alone(self, env: Any, action: Any, result: Any) -> bool:
        """One copy, known already, with an array for an observation."""
        known = self._alone.get(id(env))
        if known is None or type(result) is not tuple or len(result) != 5 or type(action) is torch.Tensor:
            return False
        (stream, seen, kinds), (observation, reward, terminated, truncated, _) = known, result
        if type(observation) is not seen or observation.dtype.char != "f":
            return False
        if not kinds.issuperset((type(reward), type(terminated), type(truncated))):
            return False
        end = kept.TERMINATED if terminated else kept.TRUNCATED if truncated else kept.GOES_ON
        small = observation.nbytes <= kept.LARGEST
        digest = hash(observation.tobytes()) if small else kept.UNKNOWN
        stream.step(float(reward), end, digest, self._clock(), numbers_of_action(action))
        return True

    def look_for(self, digests: set[int]) -> None:
        """Before anybody reads the streams: the observations that will be asked for."""
        for _, copies in self._environments.values():
            copies.book()
        self.index.look_for(digests)
        self.teams.index.look_for(digests)

    def count_ends(self) -> int:
        """Of episodes, among the steps that are kept."""
        for _, copies in self._environments.values():
            copies.book()
        return sum(stream.count_ends() for stream in self.streams.values())

    # -- meeting one -------------------------------------------------------------------------------------

    def _meet(self, env: Any, result: tuple[Any, ...]) -> tuple[Callable[[], Any], _Copies] | None:
        names = _names(result[1])
        if not names or not _are_flags(result[2]):
            return None
        if len(self._environments) >= MOST_ENVIRONMENTS:
            self._forget_dead()
        alone = not _is_by_agent(result[1]) and not _is_batched(result[1])
        bases = {base.__module__.partition(".")[0] for base in type(env).__mro__}
        copies = _Copies(alone, "" if alone else _autoreset(env), "pettingzoo" in bases)
        waiting, self._waiting = self._waiting, None
        first = waiting[1] if waiting is not None and waiting[0]() is env else None
        for name in names[:MOST_COPIES]:
            self._count += 1
            stream = copies.streams[name] = self.streams[self._count] = Stream(self._count)
            begin = first if alone else _of_copy(first, name)
            stream.current = digest_of(begin) if begin is not None else kept.UNKNOWN
        self.widths.add(_width(result[0] if alone else _of_copy(result[0], names[0])))
        if not alone and not copies.autoreset and 1 < len(names) <= MOST_COPIES:
            copies.team = self.teams.meet(list(copies.streams.values()))
            copies.team.current = digest_of_all(first, copies.streams)
            self.widths.add(sum(_width(_of_copy(result[0], name)) for name in names))
        known = self._environments[id(env)] = (_reference(env), copies)
        self._alone.pop(id(env), None)  # of one that is gone
        if alone and type(result[0]).__name__ == "ndarray":
            kinds = {kind for kind in map(type, result[1:4]) if kind.__name__ in PLAIN}
            self._alone[id(env)] = copies.streams[0], type(result[0]), kinds
        of_library = not bases.isdisjoint(LIBRARIES)
        self._emit(Environment(type(env).__name__, len(names), copies.autoreset, of_library, not alone))
        return known

    def _forget_dead(self) -> None:
        for key, (env, copies) in list(self._environments.items()):
            if env() is None or len(self._environments) >= 2 * MOST_ENVIRONMENTS:
                del self._environments[key]
                self._alone.pop(key, None)
                for stream in copies.streams.values():
                    self.streams.pop(stream.number, None)
                if copies.team is not None:
                    self.teams.forget(copies.team)

    # -- one step ----------------------------------------------------------------------------------------

    def _note(self, copies: _Copies, action: Any, result: tuple[Any, ...]) -> None:
        observation, clock = result[0], self._clock()
        if isinstance(action, torch.Tensor):
            action = action.detach().numpy() if action.device.type == "cpu" and not action.is_meta else None
        copies.book()
        copies.form = None
        if copies.alone:
            if (stream := copies.streams.get(0)) is not None:
                end = _end(bool(result[2]), bool(result[3]) if len(result) == 5 else None, result[-1])
                stream.step(float(result[1]), end, digest_of(observation), clock, numbers_of_action(action))
            return
        acted = {name: numbers_of_action(_of_copy(action, name)) for name in copies.streams}
        if self._note_arrays(copies, acted, result, clock):
            if copies.may_wait() and result[1].dtype.isnative:
                copies.wait_for(*result[:4], action)
        else:
            self._note_each(copies, acted, result, clock)
        if copies.team is not None:
            copies.team = self.teams.step(copies.team, digest_of_all(observation, copies.streams), clock)

    def _note_each(self, copies: _Copies, acted: Acted, result: tuple[Any, ...], clock: int) -> None:
        observation, reward, info = result[0], result[1], result[-1]
        flags = [_flags(part) for part in result[2 : 4 if len(result) == 5 else 3]]
        rewards = dict(reward) if _is_by_agent(reward) else dict(enumerate(numbers_of(reward)))
        for name, stream in copies.streams.items():
            if name in rewards:
                truncated = flags[1].get(name, False) if len(flags) > 1 else None
                end = _end(flags[0].get(name, False), truncated, _info_of(info, name))
                self._note_copy(
                    stream, copies, float(rewards[name]), end, observation, info, name, clock, acted[name]
                )

    def _note_arrays(self, copies: _Copies, acted: Acted, result: tuple[Any, ...], clock: int) -> bool:
        """Gymnasium's arrays, with most copies in the middle of an episode. False where it is something else."""
        observation, reward, *flags = result[:4]
        digests = kept.digests_of_copies(observation)
        if len(result) != 5 or digests is None or not kept.is_array(reward, "fd"):
            return False
        if reward.shape != (len(digests),) or len(digests) < len(copies.streams):
            return False
        if not all(kept.is_array(flag, "?") and flag.shape == reward.shape for flag in flags):
            return False
        said = zip(reward.tolist(), *(flag.tolist() for flag in flags), digests, strict=True)
        for (name, stream), (own, terminated, truncated, digest) in zip(
            copies.streams.items(), said, strict=False
        ):
            if terminated or truncated or stream.between_episodes():
                end = _end(terminated, truncated, result[4])
                self._note_copy(stream, copies, own, end, observation, result[4], name, clock, acted[name])
            else:
                stream.step(own, kept.GOES_ON, digest, clock, acted[name])
        return True

    def _note_copy(
        self, stream: Stream, copies: _Copies, reward: float, end: int, observation: Any, info: Any, name: Any,
        clock: int, acted: Sequence[float],
    ) -> None:  # fmt: skip
        autoreset = copies.autoreset
        digest = digest_of(_of_copy(observation, name))
        if autoreset == "next step" and stream.ends and stream.ends[-1] in (kept.TRUNCATED, kept.TERMINATED):
            stream.step(reward, kept.RESET, digest, clock, acted)
        elif end == kept.GOES_ON or autoreset == "next step" or copies.leaving:
            stream.step(reward, end, digest, clock, acted)
        else:  # what is returned belongs to the next episode already, or may do
            last = _last_observation(info, name) if autoreset == "same step" else None
            # Where nobody says, it is at least what the script was given for the next one.
            final = digest_of(last) if last is not None else kept.UNKNOWN if autoreset else digest
            stream.step(reward, end, final, clock, acted, digest)


def _reference(env: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(env)
    except TypeError:  # its class has slots
        return lambda: env


def _width(observation: Any) -> int:
    """How many numbers it has; 0 where that cannot be told."""
    if isinstance(observation, list | tuple):
        return len(observation)
    size = observation.numel() if hasattr(observation, "numel") else getattr(observation, "size", 0)
    return size if isinstance(size, int) else 0


def _names(reward: Any) -> list[Any]:
    """Of the copies: agents, or numbers; none where this is no reward."""
    if _is_by_agent(reward):
        return list(reward)
    if _is_batched(reward):
        return list(range(len(reward)))
    try:
        float(reward)
    except (TypeError, ValueError):
        return []
    return [0]


def _is_by_agent(part: Any) -> bool:
    return issubclass(type(part), dict)  # PettingZoo's own conversions give `defaultdict`


def _is_batched(reward: Any) -> bool:
    return isinstance(reward, list | tuple) or len(getattr(reward, "shape", ())) == 1


def _are_flags(done: Any) -> bool:
    if _is_by_agent(done):
        return all(isinstance(flag, bool | int) for flag in done.values())
    kind = str(getattr(done, "dtype", type(done).__name__))
    return (
        "bool" in kind
        or kind in ("int", "list", "tuple")
        or kind.startswith(("int", "uint", "torch.", "float"))
    )


def _is_true_or_false(done: Any) -> bool:
    """Without an `info` behind it, a third value must not be anything else."""
    return "bool" in str(getattr(done, "dtype", type(done).__name__))


def _flags(part: Any) -> dict[Any, bool]:
    return part if _is_by_agent(part) else dict(enumerate(numbers_of(part, bool)))


def _form(observation: Any, reward: Any, terminated: Any, truncated: Any, action: Any) -> tuple[Any, ...]:
    """What arrays must have in common to be read in the same way."""
    return (
        observation.shape, observation.dtype, reward.shape, reward.dtype, terminated.shape, terminated.dtype,
        truncated.shape, truncated.dtype,
        *((action.shape, action.dtype) if type(action) is type(reward) else (None, None)),
    )  # fmt: skip


def _digests(data: bytes, count: int) -> array[int]:
    """Of so many parts of one size."""
    width = len(data) // count
    return array("q", [hash(data[at : at + width]) for at in range(0, len(data), width)])


def _side_by_side(acted: bytearray, steps: int, count: int, shape: Any, kind: Any) -> Any:
    """What the copies were given: an array by step, copy and number; nothing where these are not a few numbers each."""
    if (
        shape is None
        or shape[:1] != (count,)
        or math.prod(shape[1:]) > kept.WIDEST
        or kind.char not in kept.NUMBERS
    ):
        return None
    return sys.modules["numpy"].frombuffer(acted, kind).reshape(steps, count, -1)


def _ends_of(terminated: bytes, truncated: bytes, between: bool) -> bytearray:
    """How the steps of one copy ended that spends the step after an end on a reset. `between`: the step before these
    was an end."""
    ends = bytearray(len(terminated))  # GOES_ON is 0
    if between:
        ends[0] = kept.RESET
    for at in compress(range(len(ends)), map(operator.or_, terminated, truncated)):
        if ends[at] != kept.RESET:
            ends[at] = kept.TERMINATED if terminated[at] else kept.TRUNCATED
            ends[at + 1 : at + 2] = [kept.RESET][: len(ends) - at - 1]
    return ends


def _end(done: bool, truncated: bool | None, info: Any) -> int:
    if truncated is None:  # the older interface: one flag for both
        cut = isinstance(info, dict) and info.get("TimeLimit.truncated")
        return (kept.TRUNCATED if cut else kept.ENDED) if done else kept.GOES_ON
    if done:
        return kept.TERMINATED
    return kept.TRUNCATED if truncated else kept.GOES_ON


def _autoreset(env: Any) -> Autoreset:
    """Gymnasium says so. A vector environment of the script's own that is never reset starts anew at once, or so it is
    taken to."""
    metadata = getattr(env, "metadata", None)
    mode = metadata.get("autoreset_mode") if isinstance(metadata, dict) else None
    name = str(getattr(mode, "value", mode))
    return "next step" if name == "NextStep" else "same step" if name == "SameStep" else ""


def _first(result: Any) -> Any:
    """`reset` returns an observation, or one with a dictionary."""
    pair = type(result) is tuple and len(result) == 2 and isinstance(result[1], dict)
    return result[0] if pair else result


def _of_copy(observation: Any, name: Any) -> Any:
    try:
        return observation[name]
    except (TypeError, KeyError, IndexError):
        return None


def _info_of(info: Any, name: Any) -> Any:
    return (
        info[name] if isinstance(info, list | tuple) and isinstance(name, int) and name < len(info) else info
    )


def _last_observation(info: Any, name: Any) -> Any:
    for key in ("final_obs", "final_observation", "terminal_observation"):
        if isinstance(info, dict) and key in info:
            return _of_copy(info[key], name)
    own = _info_of(info, name)
    return own.get("terminal_observation") if isinstance(own, dict) else None
