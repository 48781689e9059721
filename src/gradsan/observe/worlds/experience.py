"""Which transitions of an environment a loss is made of: batches of observations are recognised row by row, and the
constants that meet a live value are kept until the backward.

Only while every operation is looked at, only where an environment was stepped, and not for ever: by then it is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import compress

import torch

from gradsan.observe.ops.values import Tensor, is_floating
from gradsan.observe.worlds.rollouts import Rollouts
from gradsan.observe.worlds.transitions import TransitionKey, digests_of_rows, rewards_found, round_off
from gradsan.record.events import Experience, Numbers, Rows, Transition, ValueId

TAKING_BATCHES = {"linear", "matmul", "mm", "cat", "sub", "div", "mul"}
MEETING = {
    "mul", "add", "sub", "rsub", "mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss", "kl_div", "cross_entropy",
}  # fmt: skip
PICKING = {"gather", "take_along_dim", "getitem"}
LOOKED_AT = TAKING_BATCHES | MEETING | PICKING
MOST_NUMBERS, MOST_VALUES, MOST_STEPS, MOST_BATCHES, MOST_ALONE = 12_288, 2_048, 4_096, 16, 128  # in one look
FEWEST_REWARDS = 8  # that are worth looking for
FEWEST_ALIKE = 8  # rows of a batch
LONGEST_WINDOW = 32  # steps that one target spans
FIRST_LOOKS, THEN_EVERY, MOST_LOOKS = 24, 16, 48  # at a backward


class ExperienceTap:
    def __init__(self, rollouts: Rollouts, emit: Callable[[Experience], None]) -> None:
        self._rollouts = rollouts
        self._emit = emit
        self._batches: dict[ValueId, Tensor] = {}
        self._alone: dict[ValueId, Tensor] = {}  # of one row each
        self._constants: dict[ValueId, Tensor] = {}
        self._size = 0
        self._backwards = self._looks = 0
        self._told: dict[int, int] = {}  # by stream, the first transition that the judge does not know
        self.looking = True

    def met(self, name: str, inputs: list[Tensor], numbers: tuple[ValueId, ...]) -> None:
        """An operation that is looked at has run."""
        if not self._rollouts.streams or not inputs:
            return
        if name in TAKING_BATCHES:  # a network, what is put beside the observations, or what normalises them
            for tensor, number in zip(inputs[: None if name == "cat" else 1], numbers, strict=False):
                self._batch(tensor, number)
        if name in PICKING and inputs[0].requires_grad:
            for tensor, number in zip(inputs[1:], numbers[1:], strict=False):
                if tensor.dtype == torch.int64 and number not in self._constants:
                    self._keep(tensor, number)
        if name == "sub" and len(inputs) == 2 and inputs[1].numel() == 1 < inputs[0].numel():
            self._before_its_mean_is_taken_off(inputs[0], numbers[0])
        elif name in MEETING and len(inputs) == 2 and inputs[0].numel() == inputs[1].numel():
            live = [tensor.requires_grad for tensor in inputs]
            if all(live) or (name == "mul" and not any(live)):
                return
            for tensor, number, is_live in zip(inputs, numbers, live, strict=False):
                if not (is_live and name == "mul") and number not in self._constants:
                    self._keep(tensor, number)

    def _before_its_mean_is_taken_off(self, tensor: Tensor, number: ValueId) -> None:
        """Returns have their scale there still."""
        if tensor.dim() == 1 and not tensor.requires_grad and number not in self._constants:
            self._keep(tensor, number)

    def left(self, tensor: Tensor, number: ValueId) -> None:
        """A value has left torch: it may be what a target is computed of, be it of a single step."""
        if self.looking and self._rollouts.streams and number not in self._constants:
            self._keep(tensor, number)

    def _batch(self, batch: Tensor, number: ValueId) -> None:
        if not batch.dim() or batch.requires_grad or number in self._batches or number in self._alone:
            return
        width = self._width(batch)
        if width and batch.numel() // width <= MOST_NUMBERS and batch.device.type == "cpu":
            kept, most = (
                (self._alone, MOST_ALONE) if batch.numel() == width else (self._batches, MOST_BATCHES)
            )
            kept[number] = batch.detach().reshape(-1, width).clone()
            if len(kept) > most:  # the newest ones count: acting comes before learning
                del kept[next(iter(kept))]

    def _width(self, batch: Tensor) -> int:
        """How many numbers of it are an observation: those of the last axis, or of several (an agent each, a grid) that
        lie side by side; 0 where none can be."""
        widths, last, size = self._rollouts.widths, batch.shape[-1], batch.numel()
        if last in widths:
            return last
        several = [width for width in widths if last and size > width > last]
        return max((width for width in several if width % last == size % width == 0), default=0)

    def _keep(self, tensor: Tensor, number: ValueId) -> None:
        size = tensor.numel()
        plain = tensor.layout == torch.strided and tensor.device.type == "cpu"
        if size > MOST_NUMBERS or not plain or not (is_floating(tensor) or tensor.dtype == torch.int64):
            return
        self._constants[number] = tensor.detach().clone()
        self._size += size
        while self._size > MOST_NUMBERS or len(self._constants) > MOST_VALUES:
            self._size -= self._constants.pop(next(iter(self._constants))).numel()

    def before_backward(self) -> None:
        """The graph of the loss is complete."""
        if self._rollouts.streams and self._is_time():
            event = self._experience()
            if event is not None:
                self._looks += 1
                self._emit(event)
                self.forget()

    def _is_time(self) -> bool:
        self._backwards += 1
        self.looking = self._looks < MOST_LOOKS
        return self.looking and (self._looks < FIRST_LOOKS or self._backwards % THEN_EVERY == 0)

    def forget(self) -> None:
        self._batches.clear()
        self._alone.clear()
        self._constants.clear()
        self._size = 0

    def _experience(self) -> Experience | None:
        kept = (*self._alone.items(), *self._batches.items())
        batches = {number: digests_of_rows(batch) for number, batch in kept}
        self._rollouts.look_for(set().union(*batches.values()))
        found: dict[TransitionKey, int] = {}
        rows: list[Rows] = []
        for number, digests in batches.items():
            for leads_there in (False, True):
                for places in self._places(digests, leads_there):
                    if 2 * sum(place is not None for place in places) < len(places):
                        continue
                    at = tuple([-1 if p is None else found.setdefault(p, len(found)) for p in places])
                    rows.append(Rows(number, "next observation" if leads_there else "observation", at))
        if found:
            rows += self._rewards(found)
        else:
            rows += self._alike(batches, found)
        self._add_between(rows, found)
        self._add_neighbours(found)
        self._add_recent(found)
        if not found:
            return None
        streams = self._rollouts.streams
        transitions: list[Transition] = [streams[stream].transition(step) for stream, step in found]
        numbers = [
            Numbers(number, tuple([round_off(value) for value in constant.flatten().tolist()]))
            for number, constant in self._constants.items()
        ]
        return Experience(tuple(transitions), tuple(rows), tuple(numbers))

    def _places(self, digests: list[int], leads_there: bool) -> Iterator[list[TransitionKey | None]]:
        """Of observations that hold those of all agents, the places of each agent."""
        yield self._rollouts.index.find(digests, leads_there)
        teams = self._rollouts.teams
        places = teams.index.find(digests, leads_there) if teams.streams else []
        if any(places):
            members = max(len(own) for own in teams.members.values())
            for at in range(members):
                yield [teams.place_of_member(place, at) for place in places]

    def _alike(self, batches: dict[ValueId, list[int]], found: dict[TransitionKey, int]) -> Iterator[Rows]:
        """Where no batch is found again because places recur, as in a grid."""
        for number, digests in batches.items():
            steps = self._rollouts.index.find_alike(digests)
            if 2 * sum(step is not None for step in steps) > len(steps) >= FEWEST_ALIKE:
                at = tuple([-1 if s is None else found.setdefault(s, len(found)) for s in steps])
                yield Rows(number, "alike", at)

    def _add_between(self, rows: list[Rows], found: dict[TransitionKey, int]) -> None:
        """The steps that lie between a row's own and the one that it takes its next value from."""
        keys = list(found)
        for part in rows:
            for other in rows:
                if part.part == other.part or part.part != "observation" or len(part.at) != len(other.at):
                    continue
                for begin, end in zip(part.at, other.at, strict=True):
                    if begin < 0 or end < 0 or keys[begin][0] != keys[end][0]:
                        continue
                    stream, first, last = *keys[begin], keys[end][1]
                    if 1 < last - first < LONGEST_WINDOW and len(found) < MOST_STEPS:
                        for step in range(first + 1, last):
                            found.setdefault((stream, step), len(found))

    def _rewards(self, found: dict[TransitionKey, int]) -> Iterator[Rows]:
        """The constants that are what was given for known steps, whichever these are."""
        columns = {
            number: constant.flatten().to(torch.float32).tolist()
            for number, constant in self._constants.items()
            if constant.numel() >= FEWEST_REWARDS
        }
        places = rewards_found(self._rollouts.streams, set().union(*columns.values()))
        for number, column in columns.items():
            own = [places.get(reward) for reward in column]
            if 2 * sum(place is not None for place in own) >= len(own):
                at = tuple([-1 if p is None else found.setdefault(p, len(found)) for p in own])
                yield Rows(number, "reward", at)

    def _add_neighbours(self, found: dict[TransitionKey, int]) -> None:
        """The steps before and after: what was stored at the wrong moment belongs to one of them."""
        streams = self._rollouts.streams
        for number, step in list(found):
            stream = streams[number]
            for other in (step - 1, step + 1):
                if 0 <= other - stream.first < len(stream.ends) and len(found) < MOST_STEPS:
                    found.setdefault((number, other), len(found))

    def _add_recent(self, found: dict[TransitionKey, int]) -> None:
        """The transitions that were taken under our eyes since the last look: what chose their actions is known."""
        for stream in self._rollouts.streams.values():
            begin = max(self._told.get(stream.number, 0), stream.first)
            end = stream.first + len(stream.ends)
            steps = range(max(begin, end - MOST_STEPS), end)
            for step in compress(steps, stream.clocks[steps.start - stream.first :]):
                if len(found) >= MOST_STEPS:
                    break
                found.setdefault((stream.number, step), len(found))
            self._told[stream.number] = max(begin, end - 1)  # how the last one ended may still be told
