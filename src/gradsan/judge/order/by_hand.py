"""Gradients that the script itself handles: read, put aside, put back, applied to a parameter without an optimizer."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.ledger import BY_HAND, Contribution
from gradsan.record.events import NOWHERE, Op, ParamId, Site, Step, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

REACH = 2_000  # operations between a gradient and what is made of it: conjugate gradients are some hundred
KEEP = 8_192  # readings of gradients that are remembered
ERASING = {"zero", "fill"}
OVERWRITING = {"copy", "set_data"}  # of what stood there before, nothing is left


@dataclass(slots=True)
class HandUpdate:
    """A parameter was written with something that is made of gradients. Of what its `.grad` held then, `stale` had
    been applied by an earlier update, `fresh` had not. `again`: this very line had applied it, and adds it once more;
    `empty`: no backward has put anything there since it was cleared."""

    pid: ParamId
    site: Site
    stale: list[Contribution]
    fresh: list[Contribution]
    again: bool = False
    empty: bool = False


class Doubled(NamedTuple):
    """What was put aside and is added again is that very `.grad`: it was kept by reference."""

    pid: ParamId
    kept: Site
    added: Site


class EarlyFactor(NamedTuple):
    """A gradient was scaled with what had been made of it before `later` backwards added to it."""

    pid: ParamId
    site: Site
    read: Site
    later: list[Contribution]


class HandMade:
    def __init__(self, history: History) -> None:
        self._history = history
        self._read: dict[ValueId, list[Contribution]] = {}  # by reading of a `.grad`: what it held
        self._behind = False  # whether iterations were only counted since the last backward that was told
        self._last: dict[ParamId, ValueId] = {}  # the newest value when it was last updated by hand
        self._set: set[ParamId] = (
            set()
        )  # gradients set by hand, since backward last wrote them, under our eyes
        self.kept_at: dict[
            ParamId, Site
        ] = {}  # whose gradient was kept by reference and put back, read where
        self.trained: set[ParamId] = set()
        self.missing: set[ParamId] = set()  # the script looked for a gradient and found none
        self.updates: list[HandUpdate] = []  # those of the operations that came last
        self.doubled: list[Doubled] = []  # among these, too
        self.added: list[tuple[ParamId, Site, Contribution]] = []  # to a gradient that a step has applied
        self.erased: list[tuple[Site, Contribution, set[ParamId]]] = []  # by `p.grad.zero_()`, unspent
        self.early: list[EarlyFactor] = []  # among the operations that came last
        self._first_read: dict[ParamId, Site] = {}  # since the last step

    def lost_track(self) -> None:
        """Iterations were only counted: what their operations read is not what the ledger holds."""
        self._read.clear()
        self._behind = True

    def read(self, op: Op) -> None:
        if self._behind:
            return
        history, made = self._history, self._history.ledger.recent.get(op.facts.made_by)
        held = [made] if made is not None else list(history.ledger.parts.get(op.facts.pid, ()))
        self._first_read.setdefault(op.facts.pid, op.site)
        self._read[op.nid] = held
        if len(self._read) > KEEP:
            for nid in list(self._read)[: KEEP // 2]:
                del self._read[nid]

    def missed(self, pid: ParamId) -> None:
        """The script looks for a gradient of it, after a backward, and there is none."""
        if self._history.ever_fed and pid not in self._history.ever_fed:
            self.missing.add(pid)

    def fed(self, pids: tuple[ParamId, ...]) -> None:
        self._behind = False
        self._set.difference_update(pids)

    def spent(self, pids: tuple[ParamId, ...]) -> None:
        self._first_read.clear()
        self._set.difference_update(pids)

    def was_set(self, pid: ParamId) -> bool:
        """Whether the script has put a gradient there, under our eyes, that neither backward nor a step has touched."""
        return pid in self._set

    # -- a `.grad` that is written --------------------------------------------------------------------

    def gradient_set(self, op: Op) -> None:
        """What was cloned, put aside and put back replaces what came in between; what was kept by reference has
        taken in what came in between."""
        pid, parts = op.facts.pid, self._history.ledger.parts
        source = self._history.graph.get(op.inputs[0])
        if source is None:
            return
        if source.name == "add" and len(source.inputs) == 2 and len(set(source.inputs)) == 1:
            reading = self._history.graph.get(source.inputs[0])
            kept_at = self._first_read.get(pid, NOWHERE)
            if reading is not None and _is_reading(reading, pid) and kept_at not in (NOWHERE, reading.site):
                self.doubled.append(Doubled(pid, kept_at, source.site))
        if (kept := self._kept_by_reference(source, pid)) is not None:
            self.kept_at[pid] = kept.site
            return
        self._scaled(source, pid)
        held: dict[int, Contribution] = {}
        for reading in self._readings(source, over=source.name in OVERWRITING):
            held.update((id(part), part) for part in self._read[reading.nid])
        if not held and source.name in OVERWRITING:
            parts.pop(pid, None)
            self._history.ledger.by_hand([pid], self._history.iteration, op.site)
            return
        if not held and source.name not in ERASING:
            return  # of unknown origin, as in light mode: an iteration that is only counted leaves no readings
        if source.name in ERASING:
            unspent = [part for part in held.values() if pid not in part.consumed_pids()]
            self.erased += [(op.site, part, {pid}) for part in unspent]
        spent = all(pid in part.consumed_pids() for part in held.values())
        if held and spent and self._adds_to_itself(source, pid):
            self.added.append((pid, op.site, next(iter(held.values()))))
        if source.name in ERASING or spent:
            held.clear()  # spent, and changed since: a trace that is kept on purpose
        self.kept_at.pop(pid, None)
        parts[pid] = list(held.values())
        self._set.add(pid)

    def _scaled(self, source: Op, pid: ParamId) -> None:
        """`p.grad * (limit / norm)`, where the norm is that of a smaller part of this gradient."""
        sides = list(self._history.graph.inputs(source))
        if source.name not in ("mul", "div") or len(sides) != 2 or not _is_reading(sides[0], pid):
            return
        factors = [r for r in self._readings(sides[1]) if _is_reading(r, pid)]
        known = {id(part) for r in factors for part in self._read[r.nid]}
        now = self._read.get(sides[0].nid, [])
        later = [part for part in now if id(part) not in known]
        if later and any(id(part) in known for part in now):
            self.early.append(EarlyFactor(pid, source.site, factors[0].site, later))

    def _adds_to_itself(self, source: Op, pid: ParamId) -> bool:
        """`p.grad + g`; a share of the old one (`0.9 * p.grad + g`) is a momentum, or a trace."""
        return source.name == "add" and any(_is_reading(i, pid) for i in self._history.graph.inputs(source))

    def _kept_by_reference(self, source: Op, pid: ParamId) -> Op | None:
        """The reading of this very `.grad`, where backward has added to the tensor since."""
        inside = list(self._history.graph.inputs(source)) if source.name == "alias" else []
        return inside[0] if len(inside) == 1 and _is_reading(inside[0], pid) else None

    def replaced(self, event: Step) -> None:
        """Another tensor lies there than the one that backward left, and nobody saw what it is made of."""
        unseen = [pid for pid in event.replaced if pid not in self._set]
        for pid in unseen:
            self._history.ledger.parts.pop(pid, None)
        if unseen:
            self._history.ledger.by_hand(unseen, self._history.iteration, NOWHERE)

    # -- a parameter that is written ------------------------------------------------------------------

    def written(self, op: Op) -> None:
        """An update by hand, if what was written is made of gradients."""
        history, pid = self._history, op.facts.pid
        write = history.graph.get(op.inputs[0])
        found = self._readings(write) if write is not None else []
        found = [r for r in found if r.facts.pid == pid] or found
        if not found:
            return
        since = self._last.get(pid, 0)
        new = [r for r in found if r.nid > since and not r.facts.made_by]
        now = {id(p): p for r in new for p in self._read[r.nid]}
        stale = [p for p in now.values() if pid in p.by_hand]
        fresh = [p for p in now.values() if pid not in p.by_hand and p.bid != BY_HAND]
        again = bool(stale) and not fresh and all(p.by_hand[pid] == op.site for p in stale)
        adds = (
            write is not None and write.name not in OVERWRITING
        )  # a line search starts from the same weights
        self.updates.append(HandUpdate(pid, op.site, stale, fresh, again and adds, bool(new) and not now))
        for reading in found:
            if reading.facts.pid and reading.facts.pid != pid:
                history.networks.handed_over.add(reading.facts.pid)
            for part in self._read[reading.nid]:
                part.by_hand.update({pid: op.site, reading.facts.pid or pid: op.site})
        self._last[pid] = history.graph.newest
        self.trained.add(pid)
        param = history.params[pid]
        param.epoch += 1
        param.last_step, param.stepped_after = op.site, history.graph.newest

    def _readings(self, root: Op, over: bool = False) -> list[Op]:
        """The gradients that a value is made of, the nearest first; of an overwriting, only of what was put there."""
        graph = self._history.graph
        first = list(graph.inputs(root))[1:] if over and len(root.inputs) > 1 else [root]
        queue, seen, found = deque(first), {op.nid for op in first}, []
        while queue and len(seen) < REACH:
            op = queue.popleft()
            if op.nid in self._read:
                found.append(op)
                continue
            for source in graph.inputs(op):
                if source.nid not in seen:
                    seen.add(source.nid)
                    queue.append(source)
        return found


def _is_reading(op: Op, pid: ParamId) -> bool:
    return op.kind == "gradient read" and op.facts.pid == pid and not op.facts.made_by
