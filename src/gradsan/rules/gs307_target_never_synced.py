"""GS307: a target network that stays as it was."""

from __future__ import annotations

from gradsan.judge.copies.mixtures import is_mixed_with_itself
from gradsan.judge.copies.standing_samplers import StandingSamplers
from gradsan.judge.copies.standing_targets import StandingTargets
from gradsan.judge.copies.written_copies import WrittenCopies, WrittenCopy
from gradsan.judge.history import History
from gradsan.judge.lines.callers import way
from gradsan.judge.lines.chosen_parts import chosen_at, handed_at
from gradsan.judge.networks import Copying
from gradsan.judge.provenance import params_of
from gradsan.judge.report.wording import line, networks
from gradsan.record.events import Backward, Op, Ops, ParamId, Site, Sync
from gradsan.rules.base import Rule, Verdict, Verdicts

TIMES = 2
STILL, NEVER_STILL = 3, -1_000_000  # syncs that change nothing; once one does, its line is right


class TargetNeverSynced(Rule):
    code = "GS307"
    name = "target-never-synced"
    severity = "warning"
    what = """
        A target network is used, but not kept up to date. It is never updated, or only once (`if step == 100:` where
        `%` was meant). Or every sync loads the same values, which were taken before training, or only those that are
        not trained, or nothing at all, because no name fits. Or the sync computes the mixture and throws it away (`t =
        tau * p + (1 - tau) * t` only renames), or writes it into copies of the target's weights that nobody reads
        (`t.clone().lerp_(p, tau)`). Or it takes in only a part of the network. Or a copy of the policy draws what it
        learns from, and is never brought up to date. A sync in the wrong direction is GS809.
    """
    why = """
        The values bootstrap from the initial random network for ever: the agent learns the one-step look-ahead of
        noise.
    """
    symptom = """
        The TD loss falls quickly to a small value and stays there, while the return stays at or little
        above that of a random policy.
    """
    fix = (
        "write into the target: `t.data.lerp_(p.data, tau)` under `no_grad`, or "
        "`target.load_state_dict(q.state_dict())`"
    )
    deliberate = """
        A random network that is to stay random (random network distillation) is a copy of nobody and is
        not taken for a target. A copy of a network that had been trained before may stay as it is: a reference policy.
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
        class Agent:
            def __init__(self):
                self.q = torch.nn.Linear(3, 2)
                self.target = copy.deepcopy(self.q)
                self.opt = torch.optim.SGD(self.q.parameters(), lr=0.1)
            def sync(self):
                target = copy.deepcopy(self.q)  # BUG
                target.eval()
            def learn(self, s, r, s2):
                with torch.no_grad():
                    y = r + 0.9 * self.target(s2).max(1).values
                loss = (self.q(s)[:, 0] - y).pow(2).mean()
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
        agent = Agent()
        for step in range(16):
            agent.learn(torch.randn(8, 3), torch.randn(8), torch.randn(8, 3))
            if step % 2 == 1:
                agent.sync()
        """,
        """
        # Every sync loads the weights as they were before training.
        import copy
        import torch
        q, target = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
        weights = copy.deepcopy(q.state_dict())
        target.load_state_dict(weights)
        opt = torch.optim.SGD(q.parameters(), lr=0.1)
        for step in range(12):
            s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
            with torch.no_grad():
                y = r + 0.9 * target(s2).max(1).values
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            if step % 2 == 1:
                target.load_state_dict(weights)  # BUG
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
        """
        import copy
        import torch
        class Agent:
            def __init__(self):
                self.q = torch.nn.Linear(3, 2)
                self.target = copy.deepcopy(self.q)
                self.opt = torch.optim.SGD(self.q.parameters(), lr=0.1)
            def sync(self):
                target = copy.deepcopy(self.q)
                target.eval()
                self.target = target
            def learn(self, s, r, s2):
                with torch.no_grad():
                    y = r + 0.9 * self.target(s2).max(1).values
                loss = (self.q(s)[:, 0] - y).pow(2).mean()
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
        agent, best = Agent(), []
        for step in range(16):
            agent.learn(torch.randn(8, 3), torch.randn(8), torch.randn(8, 3))
            if step % 2 == 1:
                agent.sync()
                best.append(copy.deepcopy(agent.q))
        """,
        """
        # A picture that is taken anew for every sync; and one that is kept, to be looked at without learning from it.
        import copy
        import torch
        q, target, shown = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
        best = copy.deepcopy(q.state_dict())
        opt = torch.optim.SGD(q.parameters(), lr=0.1)
        for step in range(12):
            s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
            with torch.no_grad():
                y = r + 0.9 * target(s2).max(1).values
            loss = (q(s)[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            if step % 2 == 1:
                weights = {name: value.clone() for name, value in q.state_dict().items()}
                target.load_state_dict(weights)
                shown.load_state_dict(best)
                with torch.no_grad():
                    shown(s)
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._dropped: dict[Site, int] = {}
        self._still: dict[Site, int] = {}  # how often a sync has changed nothing
        self._misfits: dict[Site, int] = {}  # how often nothing was loaded, because no name fits
        self._standing, self._samplers = StandingTargets(history), StandingSamplers(history)
        self._written = WrittenCopies(history)
        self._mixtures: list[tuple[Op, list[ParamId], int]] = []

    def on_backward(self, event: Backward) -> Verdicts:
        self._standing.backward(event)
        self._samplers.backward(event)
        return ()

    def on_sync(self, event: Sync) -> Verdicts:
        """A sync that loads what is there already, again and again: a picture of the network that was taken once."""
        history, copies = self.history, self.history.networks.copies
        self._written.synced(event)
        if event.missed:
            yield from self._loads_nothing(event)
        targets = [pid for pid, _ in event.pairs if pid in copies and not history.owner_of(pid)]
        trained = any(history.params[copies[pid].source].epoch for pid in targets)
        if event.how != "load_state_dict" or not trained:
            return
        times = self._still[event.site] = self._still.get(event.site, 0) + 1 if event.still else NEVER_STILL
        loaded_from_it = any(source for _, source in event.pairs)  # then it is the network that has not moved
        if (
            times >= STILL
            and not loaded_from_it
            and not self._is_mixed(event)
            and self._standing.in_loss(targets)
        ):
            source = {copies[pid].source for pid in targets}
            yield Verdict(
                event.site,
                f"this sync loads what {networks(history, targets)} holds already, {times} times by now: the values "
                f"were taken from {networks(history, source)} once, before it was trained",
                [("sync", event.site), ("first use", self._standing.used[targets[0]])],
                targets,
                fix="load the network as it is now: `target.load_state_dict(q.state_dict())`",
            )

    def _is_mixed(self, event: Sync) -> bool:
        """With itself: GS809 says so."""
        loaded = zip(event.pairs, map(self.history.graph.get, event.values), strict=False)
        return any(op is not None and is_mixed_with_itself(self.history, pair.pid, op) for pair, op in loaded)

    def _loads_nothing(self, event: Sync) -> Verdicts:
        times = self._misfits[event.site] = self._misfits.get(event.site, 0) + 1
        if times == TIMES:
            yield Verdict(
                event.site,
                f"nothing is loaded into {networks(self.history, event.missed)}: not one of the names in what is "
                "given here is its own, and `strict=False` keeps PyTorch from saying so",
                [("sync", event.site)],
                event.missed,
                fix="load with `strict=True`, and take the prefix off the names: `name.removeprefix('module.')`",
            )

    def on_ops(self, event: Ops) -> Verdicts:
        """A mixture of target and online parameter that nobody uses."""
        history, graph = self.history, self.history.graph
        if history.networks.copies:  # else there is no target
            self._written.operations(event.ops)
        for op in event.ops if history.networks.copies else ():
            for source in graph.inputs(op):
                for pid in params_of(source):
                    if history.networks.is_target(pid):
                        self._standing.use(pid, op.site)
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

    def _only_the_rest(self, left_out: dict[ParamId, Copying]) -> Verdict:
        history, sync = self.history, next(iter(left_out.values()))
        site = chosen_at(history, way(history, sync.site, sync.chain))
        sources = {history.networks.copies[pid].source for pid in left_out}
        return Verdict(
            site,
            f"only what is never trained is sent on, {sync.times} times by now: {networks(history, left_out)} holds "
            f"what {networks(history, sources)} was at the beginning",
            [("sync", sync.site), ("first use", self._standing.used[next(iter(left_out))])],
            list(left_out),
            fix="send what is trained, too: the adapters, or the sum of base and adapters",
        )

    def _half(self, half: dict[ParamId, Copying]) -> Verdict:
        history, sync = self.history, next(iter(half.values()))
        site, use = (
            handed_at(history, way(history, sync.site, sync.chain)),
            self._standing.used[next(iter(half))],
        )
        return Verdict(
            site,
            f"only a part of the target network is synced here: the loss takes its targets from "
            f"{networks(history, half)}, too, and nothing has been written there in {history.iteration} updates",
            [("sync", site), ("sync", sync.site), ("first use", use)],
            list(half),
            fix="sync the whole network: all of its `parameters()`, or its `state_dict()`",
        )

    def _into_a_copy(self, found: WrittenCopy) -> Verdict:
        history, use = self.history, self._standing.used[found.targets[0]]
        return Verdict(
            found.site,
            f"what is mixed here is a copy of {networks(history, found.targets)}, and nobody reads it: the network "
            f"that the loss takes its targets from on {line(history, use)} stays what it was for "
            f"{history.iteration} updates",
            [("sync", found.site), ("first use", use)],
            list(found.targets),
            fix="write into the target's own weights, without `.clone()` or `deepcopy`, or load what was mixed",
        )

    def at_end(self) -> Verdicts:
        yield from self._of_targets()
        if (found := self._samplers.forgotten()) is not None:
            history, copy = self.history, self.history.networks.copies[min(found.copies)]
            yield Verdict(
                found.drawn.site,
                f"{networks(history, found.copies)} draws here what {networks(history, found.learned)} learns from, "
                f"and is what it was copied from on {line(history, copy.site)}, "
                f"{history.iteration - copy.iteration} updates ago: nothing in the loss corrects for that",
                [("draw", found.drawn.site), ("copy", copy.site), ("log-prob", found.scored.site)],
                found.copies,
                fix="load the policy's weights into the sampler before it draws",
            )

    def _of_targets(self) -> Verdicts:
        history, standing, copies = self.history, self._standing, self.history.networks.copies
        if left_out := standing.left_out():
            yield self._only_the_rest(left_out)
        elif half := standing.other_half():
            yield self._half(half)
        elif into_a_copy := self._written.found(standing.never_synced()):
            yield self._into_a_copy(into_a_copy)
        elif still := standing.forgotten():
            site, copied = standing.used[still[0]], copies[still[0]].site
            yield Verdict(
                site,
                f"{networks(history, still)} is used as a target network and was not updated in "
                f"{history.iteration} updates (copied once on {line(history, copied)})",
                [("first use", site), ("copy", copied)],
                still,
            )
        elif past := standing.copied_past():
            site, use = past[next(iter(past))], standing.used[next(iter(past))]
            yield Verdict(
                site,
                f"this copy is used by nobody: {networks(history, past)}, which the loss takes its targets from since "
                f"{line(history, use)}, stays what it was for {history.iteration} updates",
                [("sync", site), ("first use", use)],
                list(past),
            )
        if astray := standing.follow_another():
            first, copy = copies[astray[0]].first, copies[astray[0]]
            yield Verdict(
                copy.site,
                f"{networks(history, astray)} was copied from {networks(history, [first])} and is synced from "
                f"{networks(history, [copy.source])} here, which has a target network of its own",
                [("sync", copy.site), ("first use", standing.used[astray[0]])],
                astray,
                fix="sync every target network from the network that it was copied from",
            )
        if late := standing.left_behind():
            site, use, copy = standing.synced_at(late[0]), standing.used[late[0]], copies[late[0]]
            yield Verdict(
                site or use,
                f"{networks(history, late)} is used as a target network and was synced for the last time "
                f"{history.iteration - copy.iteration} updates ago; before, {copy.longest} were the longest it waited",
                [("sync", site), ("use", use)],
                late,
            )


rule = TargetNeverSynced
