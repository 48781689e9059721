"""GS809: a sync of a target network that goes the wrong way."""

from __future__ import annotations

from collections import Counter

from gradsan.judge.copies.mixtures import ROUNDING, is_mixed_with_itself, mixed_at, shares
from gradsan.judge.history import History
from gradsan.judge.lines.callers import Way, caller_apart, is_one_function, way, way_of
from gradsan.judge.lines.source import arguments_at, given_twice_at, looped_over
from gradsan.judge.report.wording import networks
from gradsan.record.events import Backward, Op, Ops, ParamId, Site, Sync
from gradsan.rules.base import Rule, Verdict, Verdicts

TIMES = 2
IN_A_ROW = 3  # syncs, one soon after the other: what is copied now and then may be copied nearly whole
SOON = 4  # iterations; a delayed policy comes with its targets at every second or third update of the critic
NEARLY_ALL = 0.9


class ReversedSync(Rule):
    code = "GS809"
    name = "reversed-sync"
    severity = "error"
    what = """
        The sync of a target network overwrites the online network with the target, or mixes the two with the weights
        exchanged (`tau * target + (1 - tau) * online` with a small tau), or takes the target from itself.
    """
    why = """
        In the wrong direction, every sync undoes what was learned. With the weights exchanged the target is a copy of
        the online network after every step, and the value chases itself. Loaded from itself, it stays at its first
        random weights.
    """
    symptom = """
        Loss and return jump back at every sync; or values grow without limit, as if there were no target network.
    """
    fix = (
        "write into the target, and give the online network the small weight: `t.data.lerp_(p.data, tau)`, or "
        "`target.load_state_dict(q.state_dict())`"
    )
    deliberate = """
        Going back to weights that were saved while training, lookahead, and averages that no loss uses are not
        reported; nor is a mixture with a large weight that is made now and then, not every few updates.
    """
    bad = (
        """
        import copy, torch
        q = torch.nn.Linear(3, 2)
        target, opt = copy.deepcopy(q), torch.optim.SGD(q.parameters(), lr=0.1)
        for _ in range(6):
            s, s2 = torch.randn(8, 3), torch.randn(8, 3)
            with torch.no_grad():
                y = 1.0 + 0.9 * target(s2).amax(1)
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            q.load_state_dict(target.state_dict())  # BUG
        """,
        """
        import copy, torch
        q = torch.nn.Linear(3, 2)
        target, opt = copy.deepcopy(q), torch.optim.SGD(q.parameters(), lr=0.1)
        for _ in range(8):
            s, s2 = torch.randn(8, 3), torch.randn(8, 3)
            with torch.no_grad():
                y = 1.0 + 0.9 * target(s2).amax(1)
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            for p, t in zip(q.parameters(), target.parameters()):
                t.data.copy_(0.005 * t.data + 0.995 * p.data)  # BUG
        """,
        """
        import copy, torch
        q = torch.nn.Linear(3, 2)
        target, opt = copy.deepcopy(q), torch.optim.SGD(q.parameters(), lr=0.1)
        def soft_update(source, copied, tau):
            for p, t in zip(source.parameters(), copied.parameters()):
                t.data.copy_(tau * p.data + (1 - tau) * t.data)
        for _ in range(6):
            s, s2 = torch.randn(8, 3), torch.randn(8, 3)
            with torch.no_grad():
                y = 1.0 + 0.9 * target(s2).amax(1)
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            soft_update(target, target, 0.1)  # BUG
        """,
        """
        import torch
        q, target = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
        target.load_state_dict(target.state_dict())  # BUG
        opt = torch.optim.SGD(q.parameters(), lr=0.1)
        for _ in range(6):
            s, s2 = torch.randn(8, 3), torch.randn(8, 3)
            with torch.no_grad():
                y = 1.0 + 0.9 * target(s2).amax(1)
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            for p, t in zip(q.parameters(), target.parameters()):
                t.data.lerp_(p.data, 0.005)
        """,
        """
        # A mixed state dict, of which both sides come from the target.
        import copy, torch
        q = torch.nn.Linear(3, 2)
        target, opt = copy.deepcopy(q), torch.optim.SGD(q.parameters(), lr=0.1)
        for _ in range(6):
            s, s2 = torch.randn(8, 3), torch.randn(8, 3)
            with torch.no_grad():
                y = 1.0 + 0.9 * target(s2).amax(1)
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            fast, slow = target.state_dict(), target.state_dict()
            target.load_state_dict({k: 0.05 * fast[k] + 0.95 * slow[k] for k in slow})  # BUG
        """,
    )
    good = (
        """
        import copy, torch
        q = torch.nn.Linear(3, 2)
        target, opt = copy.deepcopy(q), torch.optim.SGD(q.parameters(), lr=0.1)
        for _ in range(8):
            s, s2 = torch.randn(8, 3), torch.randn(8, 3)
            with torch.no_grad():
                y = 1.0 + 0.9 * target(s2).amax(1)
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            for p, t in zip(q.parameters(), target.parameters()):
                t.data.copy_(0.995 * t.data + 0.005 * p.data)
        """,
        """
        # After a failed trial the weights go back to those that no loss has used.
        import copy, torch
        q = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(q.parameters(), lr=0.1)
        for i in range(8):
            best = copy.deepcopy(q)
            loss = (q(torch.randn(8, 3)) - 1).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            if i % 2:
                q.load_state_dict(best.state_dict())
        """,
        """
        # A target's memory is moved now and then: what it holds stays the same. What is a copy already, or trained,
        # loses nothing when it is loaded from itself.
        import copy, torch
        q = torch.nn.Linear(3, 2)
        q.load_state_dict(q.state_dict())
        target, opt = copy.deepcopy(q), torch.optim.SGD(q.parameters(), lr=0.1)
        weights = target.state_dict()
        target.load_state_dict(weights)
        for _ in range(6):
            s, s2 = torch.randn(8, 3), torch.randn(8, 3)
            with torch.no_grad():
                y = 1.0 + 0.9 * target(s2).amax(1)
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            for t in target.parameters():
                t.data = t.data.clone()
        """,
        """
        # A mixed state dict of both networks.
        import copy, torch
        q = torch.nn.Linear(3, 2)
        target, opt = copy.deepcopy(q), torch.optim.SGD(q.parameters(), lr=0.1)
        for _ in range(6):
            s, s2 = torch.randn(8, 3), torch.randn(8, 3)
            with torch.no_grad():
                y = 1.0 + 0.9 * target(s2).amax(1)
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            fast, slow = q.state_dict(), target.state_dict()
            target.load_state_dict({k: 0.05 * fast[k] + 0.95 * slow[k] for k in slow})
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._reversed: dict[Site, int] = {}
        self._unmatched: dict[
            Site, list[ParamId]
        ] = {}  # loaded from themselves while they were nobody's copy
        self._rewound: dict[int, int] = {}
        self._kept: dict[ParamId, int] = {}
        self._right: dict[Way, set[ParamId]] = {}  # of syncs that write a network which no optimizer trains
        self._sources: set[ParamId] = set()  # of syncs that overwrite what is trained, or themselves
        self._in_loss: set[ParamId] = set()
        self._mixed: dict[ParamId, tuple[int, int]] = {}  # in which iteration last, and how many in a row

    def on_sync(self, event: Sync) -> Verdicts:
        """The online network is overwritten from its own target, again and again."""
        history = self.history
        own = [pid for pid, source in event.pairs if pid == source]
        if own and len(own) == len(event.pairs) and not any(history.owner_of(pid) for pid in own):
            yield from self._from_itself(event, own)
            return
        backwards = [
            (pid, source)
            for pid, source in event.pairs
            if source
            and history.params[pid].epoch
            and history.owner_of(pid)
            and not history.params[source].epoch
        ]
        wrong = bool(backwards)
        backwards = [(pid, source) for pid, source in backwards if self._is_backwards(pid, source)]
        path = way(history, event.site, event.chain)
        if backwards:
            yield self._wrong_way(path, [p for p, _ in backwards], [s for _, s in backwards])
        elif not wrong:
            self._right.setdefault(path, set()).update(pid for pid, _ in event.pairs)
        made = [history.graph.get(nid) for nid in event.values]
        for (pid, _), op in zip(event.pairs, made, strict=False):
            if op is not None and self._keeps_all(pid, op):
                yield from self._mixed_with_itself(pid, path)
            elif op is not None:
                yield from self._exchanged(pid, op, event.site)

    def _is_backwards(self, pid: ParamId, source: ParamId) -> bool:
        """Happened before, and the source serves as a target: some loss has used it. Going back to the best
        weights so far looks the same, but those were saved while training, or no loss knows them."""
        history, copies = self.history, self.history.networks.copies
        times = self._rewound[pid] = self._rewound.get(pid, 0) + 1
        saved = source in copies and copies[source].after_training
        trained = source in history.hand.trained or source in history.networks.written_by_hand
        self._sources.add(source)
        return times >= TIMES and not saved and not trained and source in self._in_loss

    def on_backward(self, event: Backward) -> Verdicts:
        # A target is copied long before it is loaded for the first time, and by then nobody may look any more.
        waiting = (self.history.networks.copies.keys() | self._sources) - self._in_loss
        if waiting:
            self._in_loss |= waiting & self.history.graph.value_params(root.nid for root in event.roots)
        return ()

    def _wrong_way(self, path: Way, online: list[ParamId], target: list[ParamId]) -> Verdict:
        history = self.history
        # Before the optimizer was made, a line that goes wrong ever after looks right.
        right = [way for way, pids in self._right.items() if not any(map(history.owner_of, pids))]
        site = caller_apart(history, path, right)
        return Verdict(
            site,
            f"this overwrites the trained network {networks(history, online)} with {networks(history, target)}, "
            "which no optimizer trains: the sync goes the wrong way",
            [("sync", path[0]), ("caller", site)],
            [*online, *target],
        )

    def _from_itself(self, event: Sync, own: list[ParamId]) -> Verdicts:
        times = self._reversed[event.site] = self._reversed.get(event.site, 0) + 1
        if times >= TIMES:
            yield self._stays(event.site, own)
        elif not self.history.networks.copies.keys() & set(own):
            self._unmatched[event.site] = own
            self._sources.update(own)

    def at_end(self) -> Verdicts:
        """Once, at the start: it was to begin with the weights of the network that it follows later."""
        for site, own in self._unmatched.items():
            follows = all(self.history.networks.is_target(pid) for pid in own)
            if self._reversed[site] < TIMES and (follows or self._is_a_reference(own)):
                yield self._stays(site, own)

    def _is_a_reference(self, pids: list[ParamId]) -> bool:
        """Whether some loss knows this network, which nothing trains, and a trained one has its form."""
        history = self.history
        trained = Counter(p.shape for pid, p in history.params.items() if history.owner_of(pid))
        forms = Counter(history.params[pid].shape for pid in pids)
        idle = not any(history.owner_of(pid) for pid in pids)
        return idle and not self._in_loss.isdisjoint(pids) and forms <= trained

    def _stays(self, site: Site, own: list[ParamId]) -> Verdict:
        message = f"{networks(self.history, own)} is loaded from itself: it stays as it was"
        return Verdict(site, message, [("sync", site)], own)

    def on_ops(self, event: Ops) -> Verdicts:
        for op in event.ops:
            if op.kind == "written":
                write = self.history.graph.get(op.inputs[0])
                if write is not None and self._keeps_all(op.facts.pid, write):
                    yield from self._mixed_with_itself(op.facts.pid, way_of(self.history, write))
                    continue
                if not self.history.owner_of(op.facts.pid):
                    self._right.setdefault(self._way_of_write(op), set()).add(op.facts.pid)
                yield from self._written_backwards(op)
                if write is not None:
                    yield from self._exchanged(op.facts.pid, write, op.site)

    def _keeps_all(self, pid: ParamId, write: Op) -> bool:
        """Whether a target was overwritten with a mixture of nothing but itself."""
        history = self.history
        known = pid in history.networks.copies and not history.owner_of(pid)
        return known and is_mixed_with_itself(history, pid, write)

    def _mixed_with_itself(self, pid: ParamId, path: Way) -> Verdicts:
        """A helper that was given one network twice is right by itself."""
        history = self.history
        times, seen = self._kept.get(pid, 0) + 1, history.sites.get(path[0])
        self._kept[pid] = times
        if times >= TIMES and seen is not None:
            names = arguments_at(seen.file, seen.line) & {*looped_over(seen.file, seen.line)}
            caller = history.sites.get(path[1]) if len(path) > 1 else None
            by_caller = caller is not None and (names or given_twice_at(caller.file, caller.line))
            site = path[1] if by_caller else path[0]
            message = f"{networks(history, [pid])} is mixed with itself: it stays as it was"
            yield Verdict(site, message, [("sync", path[0]), ("caller", site)], [pid])

    def _written_backwards(self, op: Op) -> Verdicts:
        """A trained parameter is overwritten by hand with its target, which some loss has used."""
        history, pid = self.history, op.facts.pid
        copy = history.networks.copies.get(pid)
        if copy is None or copy.site != op.site:
            return
        if not history.owner_of(pid) or not history.params[pid].epoch or history.owner_of(copy.source):
            return
        known = history.networks.source_of(copy.source) == pid or self._is_whole(op, copy.source)
        if known and self._is_backwards(pid, copy.source):
            yield self._wrong_way(self._way_of_write(op), [pid], [copy.source])

    def _is_whole(self, remark: Op, source: ParamId) -> bool:
        """Whether nothing is left of what was there: then it is loaded, as `load_state_dict` does."""
        write = self.history.graph.get(remark.inputs[0])
        return write is not None and shares(self.history, write) == {source: 1.0}

    def _way_of_write(self, remark: Op) -> Way:
        write = self.history.graph.get(remark.inputs[0])
        return (remark.site,) if write is None else way_of(self.history, write)

    def _exchanged(self, pid: ParamId, write: Op, site: Site) -> Verdicts:
        """Nearly all of a target is replaced, in every single update, and yet something is kept."""
        history, copies = self.history, self.history.networks.copies
        if pid not in copies or not history.networks.is_target(pid):
            return
        source = copies[pid].source
        parts = shares(history, write)
        kept, taken = parts.get(pid, 0.0), parts.get(source, 0.0)
        is_most = 0.0 < kept <= 1 - NEARLY_ALL + ROUNDING and NEARLY_ALL - ROUNDING <= taken < 1.0
        if parts.keys() != {pid, source} or not is_most:
            return
        last, times = self._mixed.get(pid, (-1, 0))
        if history.iteration == last:
            return
        times = times + 1 if history.iteration <= last + SOON else 1
        self._mixed[pid] = history.iteration, times
        if times >= IN_A_ROW:
            mixed = mixed_at(history, write)
            site = mixed.site if mixed is not None and is_one_function(history, mixed.site, site) else site
            yield Verdict(
                site,
                f"every sync gives {taken:.4g} of the online network to {networks(history, [pid])}, and leaves "
                f"{kept:.4g} of it: the weights of the soft update are exchanged",
                [("sync", site)],
                [pid, source],
            )


rule = ReversedSync
