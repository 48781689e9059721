"""A recursion that goes on from the entry it is about to write: `adv[t] = delta + gamma * lam * adv[t]`.

The entry is still zero, so nothing is carried from step to step. That it is read before it was ever written, and
discounted, at every single step, tells it from a sum that is added to or a mask that keeps what is there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from gradsan.judge.flow import SHAPING, TAKEN_OUT
from gradsan.judge.history import History
from gradsan.judge.provenance import Provenance
from gradsan.judge.report.wording import value_at
from gradsan.judge.returns.misaligned import Memory, Misaligned
from gradsan.record.events import Backward, Op, ValueId

FEWEST = 8  # steps
DEEPEST = 24  # operations that one step takes
ZEROS = {"zeros", "zeros_like", "new_zeros"}
ARITHMETIC = {"add", "sub", "rsub", "mul", "div", "neg"}


class CarriedFromItself:
    def __init__(self, history: History, memory: Memory) -> None:
        self._history, self._memory = history, memory

    def found_in(self, event: Backward) -> Iterator[Misaligned]:
        graph = self._history.graph
        within = graph.ancestors(root.nid for root in event.roots)
        for write, steps in carried_from_themselves(graph, within):
            if self._memory.is_enough(write.nid, write.site):
                yield Misaligned(
                    write.site,
                    f"at each of {steps} steps, {value_at(self._history, write.site, 'the return')} goes on from its "
                    "own entry, which is still zero, not from the one of the next step: nothing that comes later "
                    "than one step is in it",
                    [("return", write.site), ("backward", event.site)],
                    fix="go on from the step behind: `adv[t] = delta + gamma * lam * adv[t + 1]`",
                )


def carried_from_themselves(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[tuple[Op, int]]:
    """The last write of each such series, and how many there were."""
    lines: dict[int, list[Op]] = defaultdict(list)
    for write in graph.named(within, ("setitem",)):
        lines[write.site].append(write)
    for writes in lines.values():
        if len(writes) < FEWEST or not all(_continues_itself(graph, write) for write in writes):
            continue
        places = {write.facts.settings for write in writes}
        last = max(writes, key=lambda op: op.nid)
        buffers = list(_buffers(graph, last))
        written = [op for op in buffers if op.name == "setitem"]
        if len(places) == len(writes) == len(written) and buffers[-1].name in ZEROS:
            yield last, len(writes)


def _buffers(graph: Provenance, op: Op | None) -> Iterator[Op]:
    """A buffer, write by write, back to what it was made of."""
    while op is not None:
        yield op
        op = next(graph.inputs(op), None) if op.name == "setitem" else None


def _continues_itself(graph: Provenance, write: Op) -> bool:
    """Whether what is written holds the discounted entry of the same place, and no other entry of the buffer."""
    if len(write.inputs) != 2 or not write.facts.settings:
        return False
    buffer, value = write.inputs
    found, stack, seen = False, [(graph.get(value), False)], set[ValueId]()
    while stack and len(seen) < DEEPEST:
        op, discounted = stack.pop()
        if op is None or op.nid in seen:
            continue
        seen.add(op.nid)
        if op.name == "getitem" and op.inputs[:1] == (buffer,):
            if op.facts.settings != write.facts.settings or not discounted:
                return False
            found = True
        elif op.name in ARITHMETIC | SHAPING | TAKEN_OUT:
            factors = [op, *graph.inputs(op)] if op.name == "mul" else []  # `gamma * (1 - done)` is one, too
            by_number = any(map(_is_discounting, factors))
            stack += [(source, discounted or by_number) for source in graph.inputs(op)]
    return found


def _is_discounting(op: Op) -> bool:
    return op.name == "mul" and any(0.05 < x < 1.0 for x in op.facts.scalars)
