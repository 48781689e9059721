"""GS307: a target network that stays as it was, or a sync that goes the wrong way."""

from __future__ import annotations

from gradsan.judge.history import History
from gradsan.judge.provenance import params_of
from gradsan.judge.wording import line, networks
from gradsan.record.events import Backward, Op, Ops, ParamId, Site, Sync
from gradsan.rules.base import Rule, Verdict, Verdicts

PATIENCE = 5_000  # updates; hard syncs every few thousand updates are common
TIMES = 2


class TargetNeverSynced(Rule):
    code = "GS307"
    name = "target-never-synced"
    severity = "warning"
    what = """
        A target network is used and never updated, or the sync overwrites the online network instead, or
        computes the mixture and throws it away (`t = tau * p + (1 - tau) * t` only renames).
    """
    why = """
        The values bootstrap from the initial random network for ever: the agent learns the one-step look-ahead of
        noise. With the sync reversed, what was learned is undone.
    """
    symptom = """
        The TD loss falls quickly to a small value and stays there, while the return stays at or little
        above that of a random policy. With the sync reversed, loss and return jump back at every sync.
    """
    fix = (
        "write into the target: `t.data.lerp_(p.data, tau)` under `no_grad`, or "
        "`target.load_state_dict(q.state_dict())`"
    )
    deliberate = """
        A random network that is to stay random (random network distillation) is a copy of nobody and is
        not taken for a target.
    """
    bad = (
        """
        import copy
        import torch
        q = torch.nn.Linear(3, 2)
        target = copy.deepcopy(q)
        opt = torch.optim.SGD(q.parameters(), lr=0.1)
        for _ in range(6):
            s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
            with torch.no_grad():
                y = r + 0.9 * target(s2).max(1).values
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            for p, t in zip(q.parameters(), target.parameters()):
                t = 0.01 * p + 0.99 * t  # BUG
        """,
        """
        import copy
        import torch
        q = torch.nn.Linear(3, 2)
        target = copy.deepcopy(q)
        opt = torch.optim.SGD(q.parameters(), lr=0.1)
        for _ in range(6):
            s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
            with torch.no_grad():
                y = r + 0.9 * target(s2).max(1).values
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            q.load_state_dict(target.state_dict())  # BUG
        """,
    )
    good = (
        """
        import copy
        import torch
        q = torch.nn.Linear(3, 2)
        target = copy.deepcopy(q)
        opt = torch.optim.SGD(q.parameters(), lr=0.1)
        for _ in range(6):
            s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
            with torch.no_grad():
                y = r + 0.9 * target(s2).max(1).values
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            for p, t in zip(q.parameters(), target.parameters()):
                t.data.copy_(0.01 * p.data + 0.99 * t.data)
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._dropped: dict[Site, int] = {}
        self._reversed: dict[Site, int] = {}
        self._used: dict[ParamId, Site] = {}
        self._rewound: dict[int, int] = {}
        self._watched: set[ParamId] = set()
        self._in_loss: set[ParamId] = set()
        self._mixtures: list[tuple[Op, list[ParamId], int]] = []

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
        if not backwards:
            return
        backwards = [(pid, source) for pid, source in backwards if self._is_backwards(pid, source)]
        if backwards:
            yield self._wrong_way(event.site, [p for p, _ in backwards], [s for _, s in backwards])

    def _is_backwards(self, pid: ParamId, source: ParamId) -> bool:
        """Happened before, and the source serves as a target: some loss has used it. Going back to the best
        weights so far looks the same, but those were saved while training, or no loss knows them."""
        copies = self.history.networks.copies
        times = self._rewound[pid] = self._rewound.get(pid, 0) + 1
        self._watched.add(source)
        saved = source in copies and copies[source].after_training
        return times >= TIMES and not saved and source in self._in_loss

    def on_backward(self, event: Backward) -> Verdicts:
        if self._watched:
            values = self.history.graph.value_params(root.nid for root in event.roots)
            self._in_loss |= self._watched & values
        return ()

    def _wrong_way(self, site: Site, online: list[ParamId], target: list[ParamId]) -> Verdict:
        history = self.history
        return Verdict(
            site,
            f"this overwrites the trained network {networks(history, online)} with {networks(history, target)}, "
            "which no optimizer trains: the sync goes the wrong way",
            [("sync", site)],
            [*online, *target],
        )

    def _from_itself(self, event: Sync, own: list[ParamId]) -> Verdicts:
        times = self._reversed[event.site] = self._reversed.get(event.site, 0) + 1
        if times >= TIMES:
            message = f"{networks(self.history, own)} is loaded from itself: it stays as it was"
            yield Verdict(event.site, message, [("sync", event.site)], own)

    def _written_backwards(self, op: Op) -> Verdicts:
        """A trained parameter is overwritten by hand with its target, which some loss has used."""
        history, pid = self.history, op.facts.pid
        copy = history.networks.copies.get(pid)
        if copy is None or copy.site != op.site:
            return
        if not history.owner_of(pid) or not history.params[pid].epoch or history.owner_of(copy.source):
            return
        if history.networks.source_of(copy.source) == pid and self._is_backwards(pid, copy.source):
            yield self._wrong_way(op.site, [pid], [copy.source])

    def on_ops(self, event: Ops) -> Verdicts:
        """A mixture of target and online parameter that nobody uses."""
        history, graph = self.history, self.history.graph
        for op in event.ops:
            if op.kind == "written":
                yield from self._written_backwards(op)
            for source in graph.inputs(op):
                for pid in params_of(source):
                    if history.networks.is_target(pid):
                        self._used.setdefault(pid, op.site)
            if pair := self._mixture(op):
                self._mixtures.append((op, pair, history.iteration))
        yield from self._unused_mixtures()

    def _unused_mixtures(self) -> Verdicts:
        """Judged one iteration later: until then somebody may still use the mixture."""
        history = self.history
        due = [m for m in self._mixtures if m[2] < history.iteration]
        self._mixtures = [m for m in self._mixtures if m[2] >= history.iteration]
        for op, pair, _ in due:
            if history.graph.get(op.nid) is None:
                continue  # nobody looked for long: who used it is forgotten
            if history.graph.consumers.get(op.nid) or op.nid in history.networks.used:
                continue
            times = self._dropped[op.site] = self._dropped.get(op.site, 0) + 1
            if times >= TIMES:
                yield Verdict(
                    op.site,
                    f"the mixture of {networks(history, pair)} is computed and dropped; the target network keeps its "
                    "old values",
                    [("sync", op.site)],
                    pair,
                )

    def _mixture(self, op: Op) -> list[ParamId]:
        if op.name not in ("add", "sub", "lerp"):
            return []
        graph, networks_ = self.history.graph, self.history.networks
        near = {p for i in graph.inputs(op) for p in (params_of(i) or self._one_step(i))}
        targets = [p for p in near if networks_.is_target(p) and networks_.source_of(p) in near]
        return sorted(near) if targets and len(near) == 2 else []

    def _one_step(self, op: Op) -> tuple[ParamId, ...]:
        if op.name not in ("mul", "div", "data", "detach", "sub"):
            return ()
        graph = self.history.graph
        direct = tuple(p for i in graph.inputs(op) for p in params_of(i))
        return direct or tuple(p for i in graph.inputs(op) for j in graph.inputs(i) for p in params_of(j))

    def at_end(self) -> Verdicts:
        history = self.history
        if history.iteration < PATIENCE:
            return
        copies = history.networks.copies
        still = [
            p for p in self._used if p in copies and not copies[p].after_training and not history.owner_of(p)
        ]
        still = [p for p in still if copies[p].how != "found"]  # when that one was synced last, nobody knows
        if still:
            site = self._used[still[0]]
            yield Verdict(
                site,
                f"{networks(history, still)} is used as a target network and was not updated in "
                f"{history.iteration} updates (copied once on {line(history, copies[still[0]].site)})",
                [("first use", site), ("copy", copies[still[0]].site)],
                still,
            )


rule = TargetNeverSynced
