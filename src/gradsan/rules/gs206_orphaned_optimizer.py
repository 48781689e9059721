"""GS206: the optimizer's parameters were replaced; it steps the old ones."""

from __future__ import annotations

from collections.abc import Iterable

from gradsan.judge.copies.replaced import fed_since, left_behind
from gradsan.judge.flow import param_users
from gradsan.judge.history import History, Optimizer, Param
from gradsan.judge.ledger import Contribution
from gradsan.judge.lines.callers import Way, caller_apart, meeting, parting, way, way_of
from gradsan.judge.lines.source import Binding, bindings, called_on, is_assignment
from gradsan.judge.networks import MadeOf
from gradsan.judge.provenance import params_of
from gradsan.judge.report.wording import line, networks
from gradsan.record.events import NOWHERE, Failed, OptimizerId, ParamId, Site, SiteSeen, Step
from gradsan.rules.base import Rule, Verdict, Verdicts

TIMES = 3


class OrphanedOptimizer(Rule):
    code = "GS206"
    name = "orphaned-optimizer"
    severity = "error"
    what = """
        A network was replaced (loaded, copied, built anew, sharded by `fully_shard`) after its optimizer was
        made. The optimizer still holds the parameters of the old one; the new ones receive gradient and are never
        stepped. Or a copy of an agent was given the optimizer of the original, or the optimizer another network
        than the one that is trained.
    """
    why = (
        "After the restart or reset nothing is learned any more, and nothing raises: `step()` moves a dead "
        "network."
    )
    symptom = """
        Up to the restart, reset or load all is well; from then on the return stays level, however long
        one waits.
    """
    fix = (
        "load into the network (`net.load_state_dict(…)`) instead of replacing it, or make the optimizer "
        "anew afterwards"
    )
    deliberate = """
        A network that receives no gradient (a target, a frozen opponent) may be replaced at any time.
    """
    bad = (
        """
        import copy
        import torch

        class Agent:
            def __init__(self):
                self.net = torch.nn.Linear(3, 1)
                self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

            def restore(self, saved):
                self.net = copy.deepcopy(saved)  # BUG

            def update(self):
                loss = (self.net(torch.randn(8, 3)) - 1.0).pow(2).mean()
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()

        agent = Agent()
        agent.restore(torch.nn.Linear(3, 1))
        for _ in range(6):
            agent.update()
        """,
        """
        import copy
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(copy.deepcopy(net).parameters(), lr=0.1)  # BUG
        for _ in range(8):
            loss = (net(torch.randn(8, 3)) - 1).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # The other network was given to the optimizer, and is in use.
        import torch
        hero, foe = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
        hero_opt = torch.optim.SGD(foe.parameters(), lr=0.1)  # BUG
        foe_opt = torch.optim.SGD(foe.parameters(), lr=0.1)
        for _ in range(6):
            s = torch.randn(8, 3)
            hero_opt.zero_grad()
            (-(hero(s) * foe(s).detach()).mean()).backward()
            hero_opt.step()
            foe_opt.zero_grad()
            (hero(s).detach() * foe(s)).mean().backward()
            foe_opt.step()
        """,
    )
    good = (
        """
        import torch

        class Agent:
            def __init__(self):
                self.net = torch.nn.Linear(3, 1)
                self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

            def restore(self, saved):
                self.net.load_state_dict(saved.state_dict())

            def update(self):
                loss = (self.net(torch.randn(8, 3)) - 1.0).pow(2).mean()
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()

        agent = Agent()
        agent.restore(torch.nn.Linear(3, 1))
        for _ in range(6):
            agent.update()
        """,
        """
        import copy
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        net = copy.deepcopy(net)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(6):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Asynchronous workers: a local copy computes, the shared network gets its gradient and steps.
        import copy
        import torch
        shared = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(shared.parameters(), lr=0.1)
        local = copy.deepcopy(shared)
        for _ in range(8):
            loss = (local(torch.randn(8, 3)) - 1.0).pow(2).mean()
            local.zero_grad()
            loss.backward()
            for theirs, ours in zip(shared.parameters(), local.parameters()):
                theirs.grad = ours.grad.clone()
            opt.step()
            local.load_state_dict(shared.state_dict())
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._seen: dict[int, int] = {}
        self._in_vain: dict[tuple[OptimizerId, tuple[ParamId, ...]], int] = {}

    def on_step(self, event: Step) -> Verdicts:
        """A step that finds nothing, right after a backward for parameters that no optimizer can step: whatever
        their shapes, they are what this one should own."""
        history, ledger = self.history, self.history.ledger
        if not ledger.recent or any(ledger.fresh(pid) for pid in event.held):
            return
        last = ledger.recent[next(reversed(ledger.recent))]
        fed = last.event.fed
        key = (event.oid, fed)
        if not fed or last.consumed or not all(self._is_orphan(pid) for pid in fed):
            return
        times = self._in_vain[key] = self._in_vain.get(key, 0) + 1
        optimizer = history.optimizers[event.oid]
        held = all(history.params[pid].name for pid in fed)  # what is made anew for every update has no name
        old = set(optimizer.params) - set(fed)
        if times != TIMES or self._is_cut(last, set(fed), old):
            return
        if held or history.ever_fed & set(optimizer.params):
            yield self._verdict(optimizer, set(fed), old, last, event.site)

    def on_failed(self, event: Failed) -> Verdicts:
        """A gradient scaler says at once that there is nothing for this optimizer."""
        history, ledger = self.history, self.history.ledger
        idle = [o for o in history.optimizers.values() if not any(ledger.fresh(pid) for pid in o.params)]
        if event.kind != "nothing-to-unscale" or not ledger.recent or len(idle) != 1:
            return
        last = ledger.recent[next(reversed(ledger.recent))]
        fed = set(last.event.fed)
        if fed and not last.consumed and all(self._is_orphan(pid) for pid in fed):
            yield self._verdict(idle[0], fed, set(idle[0].params), last, event.site)

    def _made_of(self, fed: Iterable[ParamId], optimizer: Optimizer) -> MadeOf | None:
        """Where all that got gradient was computed from what the optimizer owns: stacked for an ensemble, say."""
        made = [self.history.networks.made_of.get(pid) for pid in fed]
        if not made or not all(m is not None and m.sources.intersection(optimizer.params) for m in made):
            return None
        return made[0]

    def _is_orphan(self, pid: ParamId) -> bool:
        history = self.history
        by_hand = pid in history.hand.trained or pid in history.networks.written_by_hand
        return not by_hand and pid not in history.networks.handed_over and not history.can_be_stepped(pid)

    def on_settled(self, contribution: Contribution) -> Verdicts:
        history = self.history
        homeless = {pid for pid in contribution.event.fed if not history.owner_of(pid)}
        homeless -= history.networks.handed_over
        for pid in homeless:
            self._seen[pid] = self._seen.get(pid, 0) + 1
        ready = {pid for pid in homeless if self._seen[pid] >= TIMES and pid not in history.explained}
        if not ready:
            return
        for optimizer in history.optimizers.values():
            old = left_behind(history, optimizer, ready) if optimizer.steps >= TIMES else set()
            if old - history.explained and not self._is_cut(contribution, ready, old):
                yield self._verdict(optimizer, ready, old, contribution, optimizer.last_step)
                return

    def _is_cut(self, contribution: Contribution, ready: set[ParamId], old: set[ParamId]) -> bool:
        """What is fed is copied from the trained network, which has a part in this very loss, as a constant: it is not
        the optimizer that is wrong, but which of the two was taken out of its graph (GS202). To have chosen the action
        is no part."""
        graph, networks_ = self.history.graph, self.history.networks
        roots = [root.nid for root in contribution.event.roots]
        valued = graph.ancestors(roots, lambda _, source: source.floating)
        constants = {pid for op in valued.values() for pid in params_of(op)} - graph.live_params(roots)
        copied = all((copy := networks_.copies.get(pid)) is not None and copy.source in old for pid in ready)
        return copied and old <= constants

    def _verdict(
        self,
        optimizer: Optimizer,
        ready: set[ParamId],
        old: set[ParamId],
        contribution: Contribution,
        step: Site,
    ) -> Verdict:
        history = self.history
        first, copies = min(ready), history.networks.copies
        owned = f"the optimizer of {line(history, optimizer.site)} owns"
        made = self._made_of(ready, optimizer)
        how = "was computed from" if made else "was put in place of"
        what = f"{networks(history, ready)} {how} what {owned}: gradient arrives there, and no step uses it"
        replaced = made.site if made else self._put_there(first, optimizer, step)
        if made is not None and not made.were_owned:
            replaced = NOWHERE  # the optimizer came later
        if any(pid in copies and copies[pid].source in ready for pid in old):
            replaced = NOWHERE  # the optimizer was given the copy
        elif made is None and (
            old & fed_since(history, ready)
            or self._is_kept_untrained(old)
            or self._was_there(optimizer, ready)
        ):
            # Nothing was put in its place: it is still in use, or it is there and never was, or both were there.
            replaced = NOWHERE
            what = (
                f"{owned} {networks(history, old)}, but gradient arrives in {networks(history, ready)}: "
                "no step uses it"
            )
        both = made is None and self._are_both_held(contribution, ready, old)
        if both and (used := self._use(contribution, ready, old)):
            replaced, what = (
                used,
                f"this asks {networks(history, ready)}, but {owned} {networks(history, old)}: the gradient "
                "arrives where no step uses it",
            )
        return Verdict(
            replaced or optimizer.site,
            what,
            [("optimizer", optimizer.site), ("replacement", replaced), ("backward", contribution.site),
             ("step", step)],
            ready,
            explains=ready | old,
            unless_explained=ready,
        )  # fmt: skip

    def _are_both_held(self, contribution: Contribution, ready: set[ParamId], old: set[ParamId]) -> bool:
        """Whether these are copies of what the optimizer owns, and both have names of their own: the copy is trained in
        its source's place. Either the source is still asked, too, or the copy makes the constant of this very loss."""
        history, graph, copies = self.history, self.history.graph, self.history.networks.copies
        names = [{history.params[pid].name for pid in pids} for pids in (ready, old)]
        follows = all(pid in copies and copies[pid].source in old for pid in ready)
        if not follows or not all(all(found) for found in names) or names[0] & names[1]:
            return False
        lately = {n: op for n, op in graph.ops.items() if graph.iteration_of[n] >= history.iteration - 1}
        behind = graph.ancestors(root.nid for root in contribution.event.roots)
        constant = any(not op.live for op in param_users(graph, behind, ready))
        return constant or bool(param_users(graph, lately, old))

    def _use(self, contribution: Contribution, pids: set[ParamId], old: set[ParamId]) -> Site:
        """Where the loss has them from, as the code sees it that puts the loss together, or in a helper that asks for
        both: it knows which is which."""
        history, graph = self.history, self.history.graph
        roots = [op for root in contribution.event.roots if (op := graph.get(root.nid)) is not None]
        found = param_users(graph, graph.live_ancestors(op.nid for op in roots), pids)
        first = min((op for op in found if op.site), key=lambda op: op.nid, default=None)
        if first is None:
            return NOWHERE
        path = way_of(history, first)
        beside = param_users(graph, graph.ancestors(op.nid for op in roots), old)
        ups = [parting(history, path, way_of(history, op)) for op in beside]
        return path[min([meeting(history, path, way_of(history, roots[0])), *ups])]

    def _was_there(self, optimizer: Optimizer, ready: set[ParamId]) -> bool:
        """Whether the optimizer could have been given these, and never had anything to step since it was made."""
        return not optimizer.had_gradient and max(ready) <= optimizer.after

    def _is_kept_untrained(self, pids: set[ParamId]) -> bool:
        """Whether a variable holds them, and nothing ever gave them a gradient."""
        held = all(self.history.params[pid].name for pid in pids)
        return held and not pids & self.history.ever_fed

    def _put_there(self, pid: ParamId, optimizer: Optimizer, step: Site) -> Site:
        return (
            self._shared_at(pid, step)
            or self._made_again_at(pid, optimizer)
            or self._replaced_at(pid, optimizer)
        )

    def _made_again_at(self, pid: ParamId, optimizer: Optimizer) -> Site:
        """Who called the method once more that had made what the optimizer owns, `self.build()`."""
        history = self.history
        param, owned = history.params[pid], (history.params[own] for own in optimizer.params)
        path = way(history, param.created, param.created_by)
        before = [way(history, p.created, p.created_by) for p in owned if p.created == param.created]
        site = caller_apart(history, path, before)
        return NOWHERE if site == path[0] else site

    def _shared_at(self, pid: ParamId, step: Site) -> Site:
        """Where a copy was made and, in the same function, given the optimizer of another."""
        history, copy = self.history, self.history.networks.copies.get(pid)
        made, stepped = history.sites.get(copy.site) if copy else None, history.sites.get(step)
        if made is None or stepped is None:
            return NOWHERE
        name = called_on(stepped.file, stepped.line, "step")
        given = [b for b in bindings(made.file, name) if b.function == made.function and b.plain]
        return history.site_at(made.file, given[0].line, made.function) if given else NOWHERE

    def _replaced_at(self, pid: ParamId, optimizer: Optimizer) -> Site:
        """The assignment that put the new network there: near the line that made it, not in the code that
        made the optimizer."""
        history = self.history
        param, made = history.params[pid], history.sites.get(history.params[pid].created)
        if param.kind == "sharded":
            return param.created  # `fully_shard` puts them there by itself
        parts = [p for p in param.name.split(".")[:-1] if not p.isdigit()]
        own = history.sites.get(optimizer.site)
        copy = history.networks.copies.get(pid)
        if copy is not None and copy.source in optimizer.params and self._is_bound_at(copy.site, parts):
            return copy.site
        path = way(history, param.created, param.created_by)
        if made is not None and (put := self._put_in_place(param, made)):
            return history.site_at(made.file, put, made.function)
        for name in reversed(parts):
            name = name.split("[")[0]
            files = dict.fromkeys(s.file for s in (made, own) if s is not None)
            for file in files:
                found = [b for b in bindings(file, name) if own is None or b.function != own.function]
                near = [
                    b
                    for b in found
                    if made is not None and b.function == made.function and b.end >= made.line
                ]
                if (
                    len(path) > 1 and copy is None
                ):  # an assignment that did not make it has not replaced anything
                    found = [b for b in found if self._is_on(path, file, b)]
                if near or found:
                    best = (near or found)[0]
                    return history.site_at(file, best.line, best.function)
        if copy is None and len(path) > 1 and made is not None and not is_assignment(made.file, made.line):
            return path[1]  # `self.columns.append(…)` in a method of the network: whoever called it
        return copy.site if copy is not None and copy.site else param.created

    def _put_in_place(self, param: Param, made: SiteSeen) -> int:
        """`self.log_alpha = saved["log_alpha"]`: the line after the one that made it, in the same function, that gives
        it the name that it is known by."""
        found = bindings(made.file, param.name.rpartition(".")[2])
        later = [b for b in found if b.function == made.function and b.line > made.line and b.plain]
        return later[0].line if later else 0

    def _is_on(self, path: Way, file: str, binding: Binding) -> bool:
        lines = [
            s.line for site in path if (s := self.history.sites.get(site)) is not None and s.file == file
        ]
        return any(binding.line <= line <= binding.end for line in lines)

    def _is_bound_at(self, site: Site, names: list[str]) -> bool:
        """Whether the assignment to one of these names is on this very line."""
        seen = self.history.sites.get(site)
        found = (b for name in names if seen for b in bindings(seen.file, name.split("[")[0]))
        return seen is not None and any(b.line <= seen.line <= b.end for b in found)


rule = OrphanedOptimizer
