"""The provenance graph: every value of a deep-traced iteration, what it was made from, and on which line.

An edge is *live* where gradient can flow along it. A value that is not live though something it was made
from is, is a *cut*.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import Any

from gradsan.record.events import NOTHING, Op, ParamId, ValueId

KEEP = 60_000
REMEMBERED = 16  # answers of each kind
SOURCES = ("parameter", "data", "foreign")
PARAMETERS = ("parameter", "foreign")
# Made after a value's shape and not of its numbers: nothing of it is lost there.
SHAPED_LIKE = {
    "zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "randint_like",
    "new_zeros", "new_ones", "new_empty", "new_full",
}  # fmt: skip
Answers = dict[tuple[ValueId, ...], dict[ValueId, Op]]  # by the roots that were asked for
Names = dict[str, list[tuple[int, Op]]]  # by name, the operations and the places they have among the values


class Provenance:
    def __init__(self) -> None:
        self.ops: dict[ValueId, Op] = {}
        self.consumers: dict[ValueId, list[ValueId]] = {}
        self.iteration_of: dict[ValueId, int] = {}
        self.parameters: set[ValueId] = set()  # values that stand for parameters
        self.newest = NOTHING  # the number of the last value: they are counted upwards
        # The loss of a backward is asked for by a dozen rules, one after the other.
        self._live_ancestors: Answers = {}
        self._ancestors: Answers = {}
        self._by_name: dict[int, tuple[dict[ValueId, Op], Names]] = {}  # by the `id` of those values
        # What others have found out about the graph as it is now, by a key of their own.
        self.remembered: dict[Hashable, Any] = {}

    def begin(self) -> None:
        """New operations come: what was found out so far is no answer any more."""
        self._forget_answers()

    def add(self, op: Op, iteration: int) -> None:
        """After `begin`, or before anybody has asked anything."""
        nid, consumers = op.nid, self.consumers
        self.ops[nid] = op
        if nid > self.newest:
            self.newest = nid
        if op.kind in PARAMETERS:
            self.parameters.add(nid)
        self.iteration_of[nid] = iteration
        for source in op.inputs:
            users = consumers.get(source)
            if users is None:
                consumers[source] = [nid]
            else:
                users.append(nid)

    def is_full(self) -> bool:
        return len(self.ops) >= KEEP or len(self.consumers) >= KEEP

    def _forget_answers(self) -> None:
        self._live_ancestors.clear()
        self._ancestors.clear()
        self._by_name.clear()
        self.remembered.clear()

    def forget_before(self, iteration: int) -> None:
        self._forget_answers()
        kept = self._still_needed(iteration)
        old = [nid for nid, i in self.iteration_of.items() if i < iteration and nid not in kept]
        for nid in old:
            self.ops.pop(nid, None)
            del self.iteration_of[nid]
        self.parameters.intersection_update(self.ops)
        # Values whose own operation was never recorded (its iteration only repeated) have consumers, too.
        used = {source for op in self.ops.values() for source in op.inputs}
        self.consumers = {nid: users for nid, users in self.consumers.items() if nid in used}

    def _still_needed(self, iteration: int) -> set[ValueId]:
        """Sources outlive the operations on them: a target network's weights are read for the first time
        once, and are the same value until somebody writes them."""
        recent = (op for nid, op in self.ops.items() if self.iteration_of[nid] >= iteration)
        used = {
            nid for op in recent for nid in op.inputs if nid in self.ops and self.ops[nid].kind in SOURCES
        }
        latest = {op.facts.pid: op.nid for op in self.ops.values() if op.kind == "parameter"}
        return used | set(latest.values())

    def get(self, nid: ValueId) -> Op | None:
        return self.ops.get(nid)

    def inputs(self, op: Op) -> Iterator[Op]:
        for nid in op.inputs:
            source = self.ops.get(nid)
            if source is not None:
                yield source

    def is_cut(self, op: Op) -> bool:
        return not op.live and not is_shaped_like(op) and any(i.live for i in self.inputs(op))

    def ancestors(
        self, roots: Iterable[ValueId], follow: Callable[[Op, Op], bool] | None = None
    ) -> dict[ValueId, Op]:
        """Everything the roots were made from, the roots included; `follow(op, input)` may refuse an edge. To be read,
        not to be changed: the next one who asks gets the same."""
        if follow is not None:
            return self._walk(roots, follow)
        key = tuple(roots)
        found = self._ancestors.get(key)
        return found if found is not None else _remember(self._ancestors, key, self._walk(key))

    def live_ancestors(self, roots: Iterable[ValueId]) -> dict[ValueId, Op]:
        key = tuple(roots)
        found = self._live_ancestors.get(key)
        if found is not None:
            return found
        return _remember(self._live_ancestors, key, self._walk_live(key))

    def _walk_live(self, roots: Iterable[ValueId]) -> dict[ValueId, Op]:
        """`_walk` along live edges alone, written out: half of what the rules cost is this."""
        ops, found = self.ops, {r: self.ops[r] for r in roots if r in self.ops}
        stack = [op for op in found.values() if op.live]
        while stack:
            for nid in stack.pop().inputs:
                if nid not in found and (source := ops.get(nid)) is not None and source.live:
                    found[nid] = source
                    stack.append(source)
        return found

    def _walk(
        self, roots: Iterable[ValueId], follow: Callable[[Op, Op], bool] | None = None
    ) -> dict[ValueId, Op]:
        ops, found = self.ops, {r: self.ops[r] for r in roots if r in self.ops}
        stack = list(found.values())
        while stack:
            op = stack.pop()
            if is_shaped_like(op):
                continue
            for nid in op.inputs:
                if nid in found or (source := ops.get(nid)) is None:
                    continue
                if follow is None or follow(op, source):
                    found[nid] = source
                    stack.append(source)
        return found

    def named(self, within: dict[ValueId, Op], names: Collection[str]) -> list[Op]:
        """Those of the values that an operation of one of these names made, in their order. Most rules look for a few
        names among hundreds of values: they are sorted by name once for all of them."""
        known = self._by_name.get(id(within))
        if known is None or known[0] is not within:
            known = within, _by_name(within)
            if len(self._by_name) >= REMEMBERED:
                self._by_name.clear()
            self._by_name[id(within)] = known
        lists = [ops for name, ops in known[1].items() if name in names]
        if len(lists) < 2:
            return [op for _, op in lists[0]] if lists else []
        return [op for _, op in sorted(placed for ops in lists for placed in ops)]

    def live_params(self, roots: Iterable[ValueId]) -> set[ParamId]:
        """The parameters that gradient of these values reaches."""
        sources = self._sources(self.live_ancestors(roots))
        return {pid for op in sources if op.live for pid in params_of(op)}

    def _sources(self, within: dict[ValueId, Op]) -> Iterable[Op]:
        return [op for nid, op in within.items() if nid in self.parameters]

    def lead_on(self, roots: Iterable[ValueId], pids: set[ParamId]) -> None:
        """Gradient came to these parameters through custom functions that run a backward of their own inside, as a
        reentrant checkpoint does: what they did in their forward seemed cut off, and is not."""
        for op in self.live_ancestors(roots).values():
            if "function" in op.tags and (behind := self.value_params([op.nid]) & pids):
                facts = op.facts._replace(leads_to=tuple(sorted(behind)))
                self.ops[op.nid] = op._replace(kind="foreign", facts=facts)
                self.parameters.add(op.nid)
        self._forget_answers()

    def is_hidden(self, roots: Iterable[ValueId]) -> bool:
        """Whether gradient of these values goes on into a graph that nobody saw being made: what comes out of a
        `torch.func` transform. All that is known of it is which parameters it leads to; not in which order, in
        how many passes, nor whether a part of it leads to all of them. So it is with reentrant checkpoints."""
        return any(op.kind == "foreign" for op in self.live_ancestors(roots).values())

    def value_params(self, roots: Iterable[ValueId]) -> set[ParamId]:
        """The parameters whose value had a part in these values, whether gradient flows or not."""
        return {pid for op in self._sources(self.ancestors(roots)) for pid in params_of(op)}

    def descendants(self, roots: Iterable[ValueId], within: dict[ValueId, Op]) -> set[ValueId]:
        found: set[ValueId] = set()
        stack = list(roots)
        while stack:
            nid = stack.pop()
            if nid in found or nid not in within:
                continue
            found.add(nid)
            stack.extend(self.consumers.get(nid, ()))
        return found


def is_shaped_like(op: Op) -> bool:
    """Whether it has no more of what it was given than its shape."""
    return op.name in SHAPED_LIKE and len(op.inputs) == 1


def _by_name(within: dict[ValueId, Op]) -> Names:
    found: Names = {}
    for place, op in enumerate(within.values()):
        if (known := found.get(op.name)) is None:
            found[op.name] = [(place, op)]
        else:
            known.append((place, op))
    return found


def _remember(answers: Answers, key: tuple[ValueId, ...], found: dict[ValueId, Op]) -> dict[ValueId, Op]:
    if len(answers) >= REMEMBERED:
        del answers[next(iter(answers))]
    answers[key] = found
    return found


def params_of(op: Op) -> tuple[ParamId, ...]:
    """The parameters that a source stands for; nothing for an ordinary operation."""
    if op.kind == "parameter":
        return (op.facts.pid,)
    if op.kind == "foreign":
        return op.facts.leads_to
    return ()
