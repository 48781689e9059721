"""Target networks that should have moved by now, judged by the run's own rhythm."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gradsan.judge.lines.dropped_names import is_dropped
from gradsan.judge.lines.source import happens_once
from gradsan.judge.networks import Copying
from gradsan.judge.provenance import params_of
from gradsan.record.events import NOWHERE, Backward, ParamId, Site, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

PATIENCE = 5_000  # updates without any sync; hard syncs every few thousand updates are common
PERIODS, UPDATES = (
    5,
    100,
)  # a rhythm is broken after so many of its longest pauses, and so many updates at least
# Beside others that are synced much more often, fewer updates tell as much.
PERIODS_BESIDE, UPDATES_BESIDE = 20, 50
# One sync has no rhythm: where steps of the environment are counted, the first comes sooner than the others.
PERIODS_AFTER_ONE, UPDATES_AFTER_ONE = 20, 1_000
TOGETHER = 3  # backwards of each line that are read for which targets serve it together
OFTEN = 5
IN_STEP = 3  # syncs, one after each update, of the other half of a network
RECENT = 8  # iterations


class StandingTargets:
    def __init__(self, history: History) -> None:
        self._history = history
        self.used: dict[ParamId, Site] = {}  # and where for the first time
        self._last_use: dict[ParamId, int] = {}
        self._newest = 0  # the last iteration in which operations were seen
        self._read: Counter[Site] = Counter()
        self._beside: dict[ParamId, set[ParamId]] = {}  # the other targets in the constants of the same loss
        self._in_losses: set[ParamId] = set()

    def use(self, pid: ParamId, site: Site) -> None:
        self.used.setdefault(pid, site)
        self._last_use[pid] = self._newest = self._history.iteration

    def backward(self, event: Backward) -> None:
        """Which targets make one constant together: a minimum of two critics, an actor's action and its value."""
        graph, networks = self._history.graph, self._history.networks
        if not any(root.nid for root in event.roots):
            return
        self._newest = self._history.iteration
        if self._read[event.site] >= TOGETHER:
            return
        self._read[event.site] += 1
        known = frozenset(pid for pid in self._history.params if networks.is_target(pid))
        if not known:
            return
        known |= {pid for pid in networks.copies if self._stands_with_its_source(pid)}
        within = graph.ancestors(root.nid for root in event.roots)
        self._in_losses |= known & graph.value_params(root.nid for root in event.roots)
        # From the first value to the last, for a rollout has thousands of constants that are made of each other.
        behind: dict[ValueId, frozenset[ParamId]] = {}
        for nid in sorted(within):
            op = within[nid]
            parts = {behind[source] for source in op.inputs if source in behind}
            parts.add(known.intersection(params_of(op)))
            behind[nid] = targets = parts.pop() if len(parts) == 1 else frozenset[ParamId]().union(*parts)
            if not op.live and len(op.inputs) > 1:
                for pid in targets:
                    self._beside.setdefault(pid, set()).update(targets - {pid})

    def in_loss(self, pids: list[ParamId]) -> bool:
        """Whether a loss that was read is made of what these say."""
        return not self._in_losses.isdisjoint(pids)

    def forgotten(self) -> list[ParamId]:
        """Never synced in a long run, or since others of the same loss have been synced again and again."""
        copies = self._history.networks.copies
        never = [p for p in self._standing() if not copies[p].after_training and copies[p].how != "found"]
        if not self._history.networks.moved.isdisjoint(never):
            never = [p for p in never if not self._has_moved_with_it(p)]
        if self._history.iteration >= PATIENCE:
            return never
        return [p for p in never if copies[p].times == 1 and self._others_follow(p)]

    def never_synced(self) -> set[ParamId]:
        """Copies of a network from before its training that losses ask, and that nobody has touched since."""
        networks = self._history.networks
        return {
            pid
            for pid in self._standing()
            if not networks.copies[pid].after_training and networks.copies[pid].how != "found"
            if pid in self._in_losses and pid not in networks.moved
        }

    def left_out(self) -> dict[ParamId, Copying]:
        """Never synced, while the rest of the same network is synced again and again, which was never trained: what
        has been trained is left out. And a sync of the rest."""
        copies, params = self._history.networks.copies, self._history.params
        found: dict[ParamId, Copying] = {}
        for pid in self._standing():
            own, beside = copies[pid], [p for p in self._beside.get(pid, ()) if p in copies]
            rest = [copies[p] for p in beside if copies[p].times > OFTEN]
            if own.times > 1 or own.after_training or pid in self._history.networks.moved:
                continue
            if params[own.source].epoch > OFTEN and rest and not any(params[c.source].epoch for c in rest):
                found[pid] = rest[0]
        return found

    def other_half(self) -> dict[ParamId, Copying]:
        """Never synced, though it is trained, and though what was copied on the same line from the same network, and
        answers beside it, is synced after every update. And a sync of that."""
        history, copies = self._history, self._history.networks.copies
        found: dict[ParamId, Copying] = {}
        for pid in self._standing() if history.iteration >= UPDATES_BESIDE else ():
            own = copies[pid]
            beside = [p for p in self._beside.get(pid, ()) if p in copies and self._is_one_with(pid, p)]
            rest = [copies[p] for p in beside if _is_in_step(copies[p])]
            if own.times == 1 and own.made_at and rest and self._is_left_behind(pid):
                found[pid] = rest[0]
        return found

    def _is_one_with(self, pid: ParamId, other: ParamId) -> bool:
        """Parts of one network, as far as their names tell."""
        copies, params = self._history.networks.copies, self._history.params
        (one, _, _), (two, _, _) = (params[p].name.partition(".") for p in (pid, other))
        return copies[pid].made_at == copies[other].made_at and one == two != ""

    def _is_left_behind(self, pid: ParamId) -> bool:
        history, copy = self._history, self._history.networks.copies[pid]
        networks, source = history.networks, history.params[copy.source]
        before = copy.after_training or copy.source in networks.loaded or not source.created
        return not before and source.epoch > OFTEN and pid not in networks.moved and pid in self._in_losses

    def _stands_with_its_source(self, pid: ParamId) -> bool:
        """A copy of what nobody trains."""
        history, source = self._history, self._history.networks.copies[pid].source
        return not history.owner_of(pid) and not history.owner_of(source) and not history.params[source].epoch

    def copied_past(self) -> dict[ParamId, Site]:
        """Never synced, though the same network is copied again and again on one line (and which that is), for nobody:
        the copies are bound to a name that nothing else knows."""
        copies = self._history.networks.copies
        found: dict[ParamId, Site] = {}
        for pid in self._standing():
            first = copies[pid]
            if first.times > 1 or first.how != "deepcopy" or pid in self._history.networks.moved:
                continue
            later = [
                c
                for p, c in copies.items()
                if c.source == first.source and p not in self.used and c is not first
            ]
            lines = Counter(c.site for c in later if c.how == "deepcopy" and c.after_training)
            line, times = lines.most_common(1)[0] if lines else (NOWHERE, 0)
            seen = self._history.sites.get(line)
            if times > OFTEN and seen is not None and is_dropped(seen.file, seen.line):
                found[pid] = line
        return found

    def _has_moved_with_it(self, pid: ParamId) -> bool:
        """Another one of the network that was copied on the same line: a bias may well stay as it is."""
        networks = self._history.networks
        return any(
            networks.copies[p].site == networks.copies[pid].site
            for p in networks.moved & set(networks.copies)
        )

    def _others_follow(self, pid: ParamId) -> bool:
        history, copies = self._history, self._history.networks.copies
        source = copies[pid].source
        if source in history.networks.loaded or not history.params[source].created:
            return False  # trained before: it may be there to stay
        if not history.params[source].epoch:
            return False  # there is nothing to follow
        followed = [copies[p] for p in self._beside.get(pid, ()) if p in copies and copies[p].times > OFTEN]
        rhythm = max((c.shortest for c in followed), default=0)  # not all syncs are seen
        enough = min(UPDATES, max(UPDATES_BESIDE, PERIODS_BESIDE * rhythm))
        return any(c.after_training for c in followed) and history.iteration >= enough

    def follow_another(self) -> list[ParamId]:
        """Copies of one network that are synced from its twin, again and again, as the twin's own copy is; and nothing
        follows the network that they were copied from."""
        history, copies = self._history, self._history.networks.copies
        synced = {p: c for p, c in copies.items() if c.after_training and not history.owner_of(p)}
        followed = {c.source for c in synced.values()}
        twins = {c.source for c in synced.values() if c.first == c.source and c.times > 2}
        return [
            p
            for p in self._standing()
            if p in synced and (c := synced[p]).first != c.source and c.times > 2
            if c.first not in followed and c.source in twins and p in self._in_losses
            if {o.oid for o in history.owner_of(c.first)} & {o.oid for o in history.owner_of(c.source)}
        ]

    def left_behind(self) -> list[ParamId]:
        """Synced, and then no more, for much longer than it ever was between two syncs."""
        copies = self._history.networks.copies
        synced = [p for p in self._standing() if copies[p].after_training and copies[p].longest]
        return [p for p in synced if self._is_overdue(copies[p]) and self._is_still_used(p)]

    def _is_overdue(self, copy: Copying) -> bool:
        history = self._history
        waited = history.iteration - copy.iteration
        seen = history.sites.get(copy.site)
        if copy.how == "write":  # seen in deep iterations only
            return copy.unseen and waited > max(PERIODS * copy.longest, UPDATES)
        if copy.times > 2 or (seen is not None and happens_once(seen.file, seen.line)):
            return waited > max(PERIODS * copy.longest, UPDATES)
        return waited > max(PERIODS_AFTER_ONE * copy.longest, UPDATES_AFTER_ONE)

    def _is_still_used(self, pid: ParamId) -> bool:
        """In the newest look, whatever that was for, and in the newest iterations of it."""
        looks = self._history.attention
        return bool(looks) and self._last_use[pid] >= max(looks[-1][0], self._newest - RECENT)

    def _standing(self) -> list[ParamId]:
        history = self._history
        return [p for p in self.used if p in history.networks.copies and not history.owner_of(p)]

    def synced_at(self, pid: ParamId) -> Site:
        copy = self._history.networks.copies[pid]
        return NOWHERE if copy.unseen else copy.site


def _is_in_step(copy: Copying) -> bool:
    """Synced after one update and after the next: how long it waits where nobody looks says nothing."""
    return copy.times > IN_STEP and copy.shortest == 1
