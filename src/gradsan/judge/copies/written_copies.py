"""A sync that writes into copies of the target's weights: `t.detach().clone().lerp_(p, tau)`, a list of clones that was
made once, a state dict that was copied deeply, a network that is copied, mixed and forgotten.

Everything looks right: the numbers move, and towards the network that learns. But nobody asks them for anything, and
the target stays what it was. So what was made of a target's weights is followed through mixtures; as soon as anything
else reads it, nothing is said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.flow import SHAPING
from gradsan.judge.provenance import params_of
from gradsan.record.events import Op, ParamId, Site, Sync, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

COPYING = SHAPING | {"detach", "data", "cat", "stack", "hstack"}
MIXING = {"lerp", "mul", "div", "add", "sub", "rsub", "copy"}
SYNCS = 3  # so often, before anybody is told
MOST = 4_096  # values that are followed
Params = frozenset[ParamId]


@dataclass(slots=True)
class _Mixture:
    """What one copy has become; all that was made of it by further mixing is the same one."""

    of: Params
    site: Site
    iterations: set[int] = field(default_factory=set)
    is_read: bool = False


class WrittenCopy(NamedTuple):
    """These targets were meant by what is written on this line."""

    site: Site
    targets: tuple[ParamId, ...]


class WrittenCopies:
    def __init__(self, history: History) -> None:
        self._history = history
        self._made_of: dict[ValueId, Params] = {}
        self._mixtures: dict[ValueId, _Mixture] = {}

    def operations(self, ops: Iterable[Op]) -> None:
        """In the order in which they ran."""
        ops = list(ops)
        into_parameters = {op.inputs[0] for op in ops if op.kind == "written"}
        for op in ops:
            if own := params_of(op):
                self._made_of[op.nid] = frozenset(own)
            elif op.kind == "operation":
                self._operation(op, op.nid in into_parameters)
        for table in (self._made_of, self._mixtures):
            for nid in list(table)[: max(0, len(table) - MOST)]:
                del table[nid]

    def synced(self, event: Sync) -> None:
        """Something was loaded: whatever that was made of has served its end."""
        for nid in event.values:
            if nid in self._mixtures:
                self._mixtures[nid].is_read = True

    def _operation(self, op: Op, into_parameter: bool) -> None:
        known = {mixture.site: mixture for nid in op.inputs if (mixture := self._mixtures.get(nid))}
        made_of = self._params(op.inputs)
        if op.name not in COPYING and op.name not in MIXING:
            for mixture in known.values():
                mixture.is_read = True
            return
        if into_parameter:  # the parameter itself, and what was mixed for it is what it holds now
            for mixture in known.values():
                mixture.is_read = True
            return
        if made_of:
            self._made_of[op.nid] = made_of
        if op.name in MIXING and made_of:
            self._mixed(op, list(known.values()))
        elif known:
            self._mixtures[op.nid] = next(iter(known.values()))

    def _params(self, nids: Iterable[ValueId]) -> Params:
        return Params().union(*map(self._params_of, nids))

    def _params_of(self, nid: ValueId) -> Params:
        if (known := self._made_of.get(nid)) is not None:
            return known
        op = self._history.graph.get(nid)  # read before there was any copy
        return frozenset(params_of(op)) if op is not None else Params()

    def _mixed(self, op: Op, known: list[_Mixture]) -> None:
        copies = self._history.networks.copies
        both = self._params(op.inputs)
        targets = frozenset(pid for pid in both if pid in copies and copies[pid].source in both)
        if not targets and not known:
            return
        mixture = known[0] if known else _Mixture(targets, op.site)
        self._mixtures[op.nid] = mixture
        if targets:
            mixture.iterations.add(self._history.iteration)

    def found(self, standing: Collection[ParamId]) -> WrittenCopy | None:
        """`standing`: targets that were never synced, and that losses ask."""
        lines: dict[Site, tuple[set[ParamId], set[int]]] = defaultdict(lambda: (set(), set()))
        read = set[Site]()
        for mixture in self._mixtures.values():
            if mixture.is_read:
                read.add(mixture.site)
            elif mixture.of and mixture.of <= frozenset(standing):
                lines[mixture.site][0].update(mixture.of)
                lines[mixture.site][1].update(mixture.iterations)
        for site, (targets, iterations) in lines.items():
            if site not in read and len(iterations) >= SYNCS:
                return WrittenCopy(site, tuple(sorted(targets)))
        return self._forgotten_network(standing)

    def _forgotten_network(self, standing: Collection[ParamId]) -> WrittenCopy | None:
        """Copies of a target that were made again and again, and mixed with what learns."""
        copies, found = self._history.networks.copies, defaultdict[tuple[Site, ParamId], list[ParamId]](list)
        for pid, copy in copies.items():
            if copy.first not in standing or copy.how != "write" or pid == copy.first:
                continue
            if copy.source == copies[copy.first].source:
                found[copy.site, copy.first].append(pid)
        for (site, _), made in found.items():
            if len(made) >= SYNCS:
                return WrittenCopy(site, tuple(sorted({t for s, t in found if s == site})))
        return None
