"""Flags of the ends of other steps, told by when they were made: `1 - dones[t + 1]` beside `rewards[t]`.

No environment has to be known. A step's reward and its flag are made one right after the other, in either order; where
at every step the flag of another one was made in between, the flags are one step off."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

from gradsan.judge.flow import unshaped
from gradsan.judge.history import History
from gradsan.judge.provenance import Provenance
from gradsan.judge.report.wording import value_at
from gradsan.judge.returns.carried_sums import CarriedStep, CarriedSum, carried_sums, place_of
from gradsan.judge.returns.misaligned import Memory, Misaligned
from gradsan.judge.returns.rollout_order import FORM
from gradsan.record.events import Backward, Op, ValueId

FEWEST = 8  # steps


class _Pair(NamedTuple):
    paid: ValueId
    flag: ValueId
    mask: Op  # what the flag was turned into


class EndsOfOtherSteps:
    def __init__(self, history: History, memory: Memory) -> None:
        self._history, self._memory = history, memory

    def found_in(self, event: Backward) -> Iterator[Misaligned]:
        graph = self._history.graph
        if self._history.experience.was_followed:
            return  # then the numbers tell
        for found in carried_sums(self._history, event):
            pairs = list(_pairs(graph, found))
            side = _side(pairs)
            if side and self._memory.is_enough(found.joined.nid, site := pairs[0].mask.site):
                yield Misaligned(
                    site,
                    f"{value_at(self._history, site, 'the mask')} holds, at each of {len(pairs)} steps, whether the "
                    f"step {side} it has ended an episode: the flags are one step off",
                    [("mask", site), ("put together", found.joined.site), ("backward", event.site)],
                    fix="take the flag that came with the reward: `1 - dones[t]` beside `rewards[t]`",
                )


def _side(pairs: list[_Pair]) -> Literal["", "after", "before"]:
    """Beside the outermost step nothing may lie in between: its own flag is never asked for."""
    flags = sorted(pair.flag for pair in pairs)
    if len(pairs) < FEWEST or len(set(flags)) < len(flags) or len({pair.paid for pair in pairs}) < len(flags):
        return ""
    late = sum(any(pair.paid < flag < pair.flag for flag in flags) for pair in pairs)
    early = sum(any(pair.flag < flag < pair.paid for flag in flags) for pair in pairs)
    if late >= len(pairs) - 1 and not early:
        return "after"
    return "before" if early >= len(pairs) - 1 and not late else ""


def _pairs(graph: Provenance, found: CarriedSum) -> Iterator[_Pair]:
    """Of the steps whose reward and flag are known. Values are asked for at two steps in a row, rewards at one."""
    for before, step in pairwise(found.steps):
        masks = [(op, mask) for op in step.given.values() if (mask := _turned(graph, op, step)) is not None]
        shared = {*before.given, *step.given_after, *(place_of(flag) for flag, _ in masks)}
        paid = [op for place, op in step.given.items() if op.floating and place not in shared]
        if len(masks) != 1 or len(paid) != 1:
            continue
        flag_made, paid_made = _made(graph, masks[0][0]), _made(graph, paid[0])
        if flag_made is not None and paid_made is not None:
            yield _Pair(paid_made.nid, flag_made.nid, masks[0][1])


def _turned(graph: Provenance, op: Op, step: CarriedStep) -> Op | None:
    """`1 - flag`, made before the step was summed up."""
    users = (graph.get(nid) for nid in graph.consumers.get(op.nid, ()))
    masks = [user for user in users if user is not None and user.facts.mask is not None]
    return next((mask for mask in masks if mask.name in ("sub", "rsub") and mask.nid < step.now.nid), None)


def _made(graph: Provenance, op: Op) -> Op | None:
    """What was written into this place of a buffer; nothing where the buffer is as it was made."""
    if op.name != "getitem" or not op.facts.settings:
        return unshaped(graph, op, FORM)
    buffer = next(graph.inputs(op), None)
    while buffer is not None and buffer.name == "setitem":
        sources = list(graph.inputs(buffer))
        if buffer.facts.settings == op.facts.settings:
            return unshaped(graph, sources[1], FORM) if len(sources) > 1 else buffer
        buffer = sources[0] if sources else None
    return None
