"""GS306: target and online network are the same memory."""

from __future__ import annotations

from gradsan.judge.copies.aliases import frozen_by_another_name, mixes_itself
from gradsan.judge.copies.itself import Itself, compared_with_itself
from gradsan.judge.copies.mixtures import is_scaled
from gradsan.judge.history import History
from gradsan.judge.lines.second_names import alias_line, made_for_both
from gradsan.judge.provenance import params_of
from gradsan.judge.report.wording import line, networks
from gradsan.record.events import NOBODY, NOWHERE, Backward, Op, Ops, ParamId, Site, Sync
from gradsan.record.torch_errors import NO_GRAPH
from gradsan.rules.base import Rule, Verdict, Verdicts

WINDOWS = 2  # backwards without the target network before its absence counts
OWN_TARGET = "is its own target network"


class TargetNetworkAliased(Rule):
    code = "GS306"
    name = "target-network-aliased"
    severity = "error"
    what = """
        The target network and the online network share their parameters: one was assigned to the other
        (`self.target = self.q`), or the sync shares memory (`t.data = p.data`).
    """
    why = """
        There is no target network any more: the target moves with every update, which is what it was there to
        prevent. Q-values chase themselves and diverge.
    """
    symptom = """
        Q-values and TD loss grow without bound, or the return goes up and down, as if there were no
        target network; the sync interval makes no difference.
    """
    fix = "make a copy once (`copy.deepcopy(q)`) and sync values: `target.load_state_dict(q.state_dict())`"
    deliberate = """
        Algorithms without a target network use the online network by its own name. Two names for one
        network are a mistake that waits for its first sync.
    """
    bad = (
        """
        import torch

        class Agent:
            def __init__(self):
                self.q, self.target = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
                self.opt = torch.optim.SGD(self.q.parameters(), lr=0.1)

            def sync(self):
                self.target.load_state_dict(self.q.state_dict())
                self.target = self.q  # BUG

            def update(self):
                s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
                with torch.no_grad():
                    y = r + 0.9 * self.target(s2).max(1).values
                loss = (self.q(s)[:, 0] - y).pow(2).mean()
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()

        agent = Agent()
        for i in range(6):
            agent.update()
            if i % 3 == 0:
                agent.sync()
        """,
        """
        import torch
        q = torch.nn.Linear(3, 2)
        target = q  # BUG
        opt = torch.optim.SGD(q.parameters(), lr=0.1)
        for i in range(6):
            s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
            with torch.no_grad():
                y = r + 0.9 * target(s2).max(1).values
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            if i % 3 == 0:
                target.load_state_dict(q.state_dict())
        """,
        """
        import copy
        import torch
        q = torch.nn.Linear(3, 2)
        target = copy.deepcopy(q)
        opt = torch.optim.SGD(q.parameters(), lr=0.1)
        for i in range(6):
            s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
            with torch.no_grad():
                y = r + 0.9 * target(s2).max(1).values
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            for p, t in zip(q.parameters(), target.parameters()):
                t.data = p.data  # BUG
        """,
    )
    good = (
        """
        import torch

        class Agent:
            def __init__(self):
                self.q, self.target = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
                self.opt = torch.optim.SGD(self.q.parameters(), lr=0.1)

            def sync(self):
                self.target.load_state_dict(self.q.state_dict())

            def update(self):
                s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
                with torch.no_grad():
                    y = r + 0.9 * self.target(s2).max(1).values
                loss = (self.q(s)[:, 0] - y).pow(2).mean()
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()

        agent = Agent()
        for i in range(6):
            agent.update()
            if i % 3 == 0:
                agent.sync()
        """,
        """
        import copy
        import torch
        q = torch.nn.Linear(3, 2)
        target = copy.deepcopy(q)
        opt = torch.optim.SGD(q.parameters(), lr=0.1)
        for i in range(6):
            s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
            with torch.no_grad():
                y = r + 0.9 * target(s2).max(1).values
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            for p, t in zip(q.parameters(), target.parameters()):
                t.data = 0.99 * t.data + 0.01 * p.data
        """,
        """
        # The critic's weights without gradient, taken once: the actor is to see the critic as it is now.
        import torch
        from torch.func import functional_call
        actor, critic = torch.nn.Linear(3, 1), torch.nn.Linear(4, 1)
        actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        fixed = {n: p.detach() for n, p in critic.named_parameters()}
        for _ in range(6):
            s, a = torch.randn(8, 3), torch.randn(8, 1)
            q_loss = (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean()
            pi_loss = -functional_call(critic, fixed, (torch.cat([s, actor(s).tanh()], -1),)).mean()
            actor_opt.zero_grad()
            critic_opt.zero_grad()
            (q_loss + pi_loss).backward()
            actor_opt.step()
            critic_opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._window: dict[Site, set[ParamId]] = {}
        self._before: dict[Site, set[ParamId]] = {}
        self._suspects: dict[Site, tuple[set[ParamId], int]] = {}
        self._reported: set[ParamId] = set()
        self._lent: dict[ParamId, tuple[ParamId, Site]] = {}  # who else has this memory, since which load
        self._parted: tuple[list[ParamId], list[tuple[ParamId, ParamId]], Site] = ([], [], NOWHERE)
        self._taken: dict[tuple[Site, ParamId], set[int]] = {}  # iterations
        self._mixed: dict[ParamId, tuple[int, Site]] = {}  # how often with themselves, and where

    def on_sync(self, event: Sync) -> Verdicts:
        """A network that is loaded from itself, or whose memory became that of its source."""
        own = [pid for pid, source in event.pairs if pid == source]
        if own and len(own) == len(event.pairs):
            if not any(self.history.owner_of(pid) for pid in own):
                return  # a target that is loaded from itself stands still: GS809
            yield from self._once(own, own, event.site, "sync")
        elif own:
            self._parted = (
                own,
                [pair for pair in event.pairs if pair[1] not in (pair[0], NOBODY)],
                event.site,
            )
        elif event.aliased:
            # A network that only lent its weights to another one (to load a file) is never called.
            self._lent.update((p, (s, event.site)) for p, s in event.pairs if s and s != p)

    def on_ops(self, event: Ops) -> Verdicts:
        history = self.history
        sources = history.graph.parameters
        yield from self._compared(list(event.ops))
        for op in event.ops:
            if op.kind == "operation" and sources.isdisjoint(op.inputs):
                continue
            if op.kind == "written" and mixes_itself(history.graph, op) and not is_scaled(history, op):
                times, _ = self._mixed.get(op.facts.pid, (0, NOWHERE))
                self._mixed[op.facts.pid] = (times + 1, op.site)
            if op.kind == "written" and op.facts.shares:
                pid = op.facts.pid
                others = [o for o in op.facts.shares if self._are_twins(pid, o)]
                if others:
                    yield from self._once([pid], others, op.site, "alias")
            elif op.site:
                pids = {p for i in history.graph.inputs(op) for p in params_of(i)}
                if pids:
                    self._window.setdefault(op.site, set()).update(pids)

    def _compared(self, ops: list[Op]) -> Verdicts:
        """The difference of two networks' weights, written into gradients or weights, is one of each with itself."""
        history, graph = self.history, self.history.graph
        differences: dict[Site, list[tuple[Op, Itself | None]]] = {}
        for op in ops:
            if op.name == "sub" and not op.live:
                differences.setdefault(op.site, []).append((op, compared_with_itself(history, op)))
        for site, pairs in differences.items():
            pids = [found.value.facts.pid for _, found in pairs if found is not None]
            if len(pids) < len(pairs) or not all(pid and history.params[pid].epoch for pid in pids):
                continue
            onward = graph.descendants([op.nid for op, _ in pairs], graph.ops)
            if any(graph.ops[nid].kind in ("gradient set", "written") for nid in onward):
                yield from self._once(
                    pids, pids, site, "use", "is compared with itself: two names for one network"
                )

    def on_backward(self, event: Backward) -> Verdicts:
        """A line that called the target network, and nothing else, now calls the online network; and from
        then on nobody calls the target network any more."""
        if NO_GRAPH in event.error:
            yield from self._frozen(event)
        networks = self.history.networks
        if not self.history.deep:  # nobody sees who calls whom
            self._window, self._suspects = {}, {}
        used = {pid for pids in self._window.values() for pid in pids}
        for site, pids in self._window.items():
            before = self._before.get(site, set())
            gone = before - pids
            if gone and all(networks.is_target(p) and networks.source_of(p) in pids - before for p in gone):
                self._suspects.setdefault(site, (gone, 0))
            self._before[site] = pids
        shared = [p for p, (source, _) in self._lent.items() if p in used and source in used]
        if shared and any(self.history.owner_of(self._lent[p][0]) for p in shared):
            sources = [self._lent[p][0] for p in shared]
            yield from self._once(shared, sources, self._lent[shared[0]][1], "sync")
        yield from self._in_common(used)
        for site, (targets, windows) in list(self._suspects.items()):
            if targets & used:
                del self._suspects[site]
            elif windows < WINDOWS:
                self._suspects[site] = (targets, windows + 1)
            else:
                del self._suspects[site]
                online = [s for p in sorted(targets) if (s := networks.source_of(p)) is not None]
                yield from self._once(sorted(targets), online, site, "use")
        self._window = {}
        mixed = [pid for pid, (times, _) in self._mixed.items() if times > 1 and self.history.owner_of(pid)]
        if mixed:
            yield from self._once(mixed, mixed, self._mixed[mixed[0]][1], "sync")
        yield from self._outlived(event)

    def _outlived(self, event: Backward) -> Verdicts:
        """`{n: p.detach() …}` as a target: without `clone` it is the online network's own memory, and a step
        has changed it between the copy and its use."""
        history, graph = self.history, self.history.graph
        within = graph.ancestors(root.nid for root in event.roots)
        moved: dict[Site, set[ParamId]] = {}
        for op in within.values():
            if op.name not in ("detach", "data") or not op.site:
                continue
            pids = {p for i in graph.inputs(op) for p in params_of(i) if history.params[p].epoch}
            made = graph.iteration_of[op.nid]
            users = [n for n in graph.consumers.get(op.nid, ()) if n in within]
            if pids and any(graph.iteration_of[n] > made for n in users):
                moved.setdefault(op.site, set()).update(pids)
            for pid in pids:
                taken = self._taken.setdefault((op.site, pid), set())
                if len(taken) < 2:
                    taken.add(made)
        for site, pids in moved.items():
            # What is taken once and for all is a way to the same weights without gradient; what is taken again
            # after a while was to be a picture of them.
            pids = {pid for pid in pids if len(self._taken[site, pid]) > 1}
            if not pids:
                continue
            yield Verdict(
                site,
                f"what this line takes from {networks(history, pids)} shares its memory: it was to stand still, and "
                f"every step moves it",
                [("alias", site), ("backward", event.site)],
                pids,
                fix="copy it: `p.detach().clone()`",
                key="alias",
            )

    def _frozen(self, event: Backward) -> Verdicts:
        """The loss is made of a network that was frozen by its second name: the one of a copy that was never made."""
        history = self.history
        behind = sorted(history.graph.value_params(root.nid for root in event.roots))
        frozen = [p for p in behind if not history.params[p].requires_grad and history.owner_of(p)]
        if alias := frozen_by_another_name(history, frozen):
            freeze = next(at for p in frozen if (at := history.params[p].frozen_at))
            yield Verdict(
                alias,
                f"this is a second name for {networks(history, frozen)}, not a copy: what {line(history, freeze)} "
                f"freezes is what the optimizer is to train, and the loss on {line(history, event.site)} has no graph",
                [("alias", alias), ("freeze", freeze), ("backward", event.site)],
                frozen,
                explains=frozen,
                key="alias",
            )

    def _are_twins(self, pid: ParamId, other: ParamId) -> bool:
        copies = self.history.networks.copies
        return (pid in copies and copies[pid].source == other) or (
            other in copies and copies[other].source == pid
        )

    def _in_common(self, used: set[ParamId]) -> Verdicts:
        """A layer that the target has in common with the network it follows, which trains it."""
        own, pairs, synced = self._parted
        history = self.history
        asked = [pair for pair in pairs if used.issuperset(pair)]
        shared = [pid for pid in own if pid in used and history.owner_of(pid) and history.params[pid].epoch]
        if not asked or not shared or self._reported & {*own}:
            return
        self._reported.update(own)
        made = made_for_both(history, shared[0], asked[0])
        yield Verdict(
            made or synced,
            f"{networks(history, shared)} is a part of {networks(history, [s for _, s in asked])} and of its target "
            f"{networks(history, [p for p, _ in asked])} alike: every step moves the target, too",
            [("alias", made), ("sync", synced)],
            [*shared, *(p for p, _ in asked)],
            key="alias",
            fix="give the target layers of its own: `copy.deepcopy` of the whole network",
        )

    def _once(
        self, targets: list[ParamId], online: list[ParamId], site: Site, role: str, what: str = OWN_TARGET
    ) -> Verdicts:
        known = self._reported & {*targets, *online}
        self._reported.update(targets, online)
        if not known or role == "alias":
            yield self._verdict(targets, online, site, role, what)

    def _verdict(
        self, targets: list[ParamId], online: list[ParamId], site: Site, role: str, what: str
    ) -> Verdict:
        history = self.history
        alias = alias_line(history, targets, online, site) if role != "alias" else site
        return Verdict(
            alias or site,
            f"{networks(history, targets)} and {networks(history, online)} are one and the same"
            if targets != online
            else f"{networks(history, targets)} {what}",
            [("alias", alias), (role, site)],
            [*targets, *online],
            key="alias",
        )


rule = TargetNetworkAliased
