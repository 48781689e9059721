"""GS405: gradient is cleared between backward and step."""

from __future__ import annotations

from gradsan.judge.history import History
from gradsan.judge.ledger import Contribution
from gradsan.judge.lines.callers import Way, caller_apart, way
from gradsan.judge.order.first_steps import FirstSteps
from gradsan.judge.report.wording import line, networks
from gradsan.record.events import (
    NOWHERE,
    Backward,
    BackwardId,
    Ops,
    OptimizerId,
    ParamId,
    Site,
    Step,
    ZeroGrad,
)
from gradsan.rules.base import Rule, Verdict, Verdicts

WASTED = 5  # times, of all that came from one line: a step may be left out now and then
NEVER = 3  # times that gradient was cleared, and no step yet: what accumulates is not cleared
TIMES = (
    3  # steps in a row: micro-batches come round every time, an update that is skipped on purpose does not
)


class GradientWiped(Rule):
    code = "GS405"
    name = "gradient-wiped"
    severity = "error"
    what = """
        `zero_grad()` ran between a `backward()` and the `step()` that should have applied it, so the
        gradient was thrown away: all of it, or (with micro-batches) all but the last part.
    """
    why = """
        Nothing raises: the optimizer steps on nothing, or on a fraction of the batch. Learning stalls, or
        behaves like training with a much smaller batch and a wrong learning rate.
    """
    symptom = """
        Loss and return stay where they started; with micro-batches, the curve is as noisy as that of
        one micro-batch alone.
    """
    fix = "clear once per update: right after `step()`, or before the first backward of the update"
    deliberate = """
        Clearing gradient that another loss left behind (the actor's loss in the critic's `.grad`) is right and not
        reported. Nor is clearing after an overflow that made the loss scaler skip the step, or where an update is given
        up now and then (the policy has moved too far, the gradient is over a limit).
    """
    bad = (
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            loss.backward()
            opt.zero_grad()  # BUG
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            loss.backward()
            opt.zero_grad(set_to_none=False)  # BUG
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            for _ in range(3):
                net.zero_grad()  # BUG
                loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean() / 3
                loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        # Backward for the gradient of the input: what the network gets from it is cleared by right.
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(10):
            x = torch.randn(8, 3, requires_grad=True)
            net(x).pow(2).mean().backward()
            harder = (x + 0.1 * x.grad.sign()).detach()
            opt.zero_grad()
            (net(harder) - 1.0).pow(2).mean().backward()
            opt.step()
            opt.zero_grad()
        """,
        """
        # No training: the gradients are looked at.
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        seen = []
        for _ in range(10):
            opt.zero_grad()
            net(torch.randn(8, 3)).pow(2).mean().backward()
            seen.append(net.weight.grad.norm().item())
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._first = FirstSteps(history)
        self._erased: list[tuple[Site, Contribution, set[ParamId]]] = []  # by hand, one gradient at a time
        self._pending: list[tuple[Site, Contribution, set[ParamId]]] = []
        self._seen: dict[OptimizerId, dict[tuple[Site, Site], int]] = {}  # steps in a row
        self._routine: set[Site] = set()  # where there was nothing to lose, too: what runs for every update
        self._ways: dict[Site, set[Way]] = {}  # on which nothing was lost
        self._lost_on: dict[Site, Way] = {}
        self._by_hand: dict[tuple[Site, Site], int] = {}
        self._read: set[ParamId] = set()
        self._kept: set[Site] = set()  # where they had been read: in passing, nobody sees that
        # Of the optimizers that have not stepped yet: the first line of backward, and what it fed.
        self._fed: dict[OptimizerId, tuple[Site, tuple[ParamId, ...]]] = {}
        self._cleared: dict[OptimizerId, int] = {}  # how often what they were fed was cleared
        self._waiting: set[OptimizerId] = (
            set()
        )  # fed since they were last cleared; the ledger forgets in passing
        self._ever_used: set[ParamId] = set()
        self._put: dict[ParamId, int] = {}  # how often the script itself put a gradient there
        self._wasted: dict[Site, tuple[int, set[ParamId]]] = {}  # by backward, what was cleared unused
        self._useful: set[Site] = set()
        # By backward, the steps that the owners of what it feeds had made at its first and at its last time.
        self._steps_at: dict[Site, tuple[int, int]] = {}
        self._for_another: set[BackwardId] = set()
        self._has_looked = False
        self._fed_once: set[OptimizerId] = set()  # that have found gradient in some step

    def on_ops(self, event: Ops) -> Verdicts:
        """A gradient that the user's code has read was not thrown away."""
        read = {op.facts.pid for op in event.ops if op.kind == "gradient read"}
        self._read |= read
        put = [op.facts.pid for op in event.ops if op.kind == "gradient set"]
        self._put.update((pid, self._put.get(pid, 0) + 1) for pid in put)
        self._ever_used |= read.union(put)
        self._has_looked = True
        yield from self._wiped_before_update()

    def on_backward(self, event: Backward) -> Verdicts:
        """What was read before has nothing of what comes now."""
        self._read.difference_update(event.fed)
        owners = {o.oid: o.steps for pid in event.fed[:1] for o in self.history.owner_of(pid)}
        steps = sum(owners.values())
        self._steps_at[event.site] = (self._steps_at.get(event.site, (steps, 0))[0], steps)
        for oid, optimizer in self.history.optimizers.items():
            if not optimizer.steps and not event.error and set(event.fed) & set(optimizer.params):
                self._fed.setdefault(oid, (event.site, event.fed))
                self._waiting.add(oid)
        return ()

    def on_settled(self, contribution: Contribution) -> Verdicts:
        site, fed = contribution.site, set(contribution.event.fed)
        wiped = {pid for pids in contribution.wiped.values() for pid in pids}
        if contribution.consumed_pids():
            self._useful.add(site)
        elif fed and fed <= wiped and not contribution.event.error:
            times, before = self._wasted.get(site, (0, set()))
            self._wasted[site] = (times + 1, before | fed)
        return ()

    def at_end(self) -> Verdicts:
        yield from self._never_stepped()
        yield from self._never_applied()
        yield from self._never_consumed()

    def _used(self) -> set[ParamId]:
        """Whose gradient the script reads, or applies itself. Who only wants to look at gradients reads them."""
        history = self.history
        return self._ever_used | history.hand.trained | history.networks.written_by_hand.keys()

    def _never_consumed(self) -> Verdicts:
        """An optimizer steps at other times, not in this phase; what comes from this backward is cleared every time.
        Where it steps in between, this is another's loss, and the clearing is right."""
        history, used = self.history, self._used()
        for site, (times, fed) in self._wasted.items():
            owned = {pid for pid in fed if history.owner_of(pid)}
            first, last = self._steps_at[site]
            if (
                first != last
                or times < WASTED
                or site in self._useful
                or not self._has_looked
                or fed & used
                or not owned
            ):
                continue
            yield Verdict(
                site,
                f"the gradient that this backward gives {networks(history, owned)} is cleared every time, and no "
                "step has taken any of it",
                [("backward", site), *(("optimizer", o.site) for o in history.owner_of(min(owned)))],
                owned,
                explains=owned,
                unless_explained=owned,
                fix="call `step()` after backward",
            )

    def _never_applied(self) -> Verdicts:
        """The script puts gradients where an optimizer would find them, and it never steps."""
        history = self.history
        written = history.hand.trained | history.networks.written_by_hand.keys()
        for optimizer in history.optimizers.values():
            put = {pid for pid in optimizer.params if self._put.get(pid, 0) >= WASTED}
            owners = {o.oid: o for pid in put for o in history.owner_of(pid)}
            if not put or put & written or any(o.steps for o in owners.values()):
                continue
            yield Verdict(
                optimizer.site,
                f"this optimizer never steps: the gradient that the script puts into {networks(history, put)} "
                "is never applied",
                [("optimizer", optimizer.site)],
                put,
                explains=put,
                unless_explained=put,
                fix="call `step()` once the gradients are there",
            )

    def _never_stepped(self) -> Verdicts:
        """Nothing is left for the step where there is none."""
        history = self.history
        for oid, (backward, fed) in self._fed.items():
            optimizer = history.optimizers[oid]
            mine = set(fed) & set(optimizer.params)
            if self._cleared.get(oid, 0) < NEVER or not self._has_looked or mine & self._used():
                continue
            if any(other.steps for other in history.optimizers.values() if set(other.params) & mine):
                continue
            yield Verdict(
                backward,
                f"nothing applies the gradient that this backward gives {networks(history, mine)}: the optimizer of "
                f"{line(history, optimizer.site)}, which owns them, never steps",
                [("backward", backward), ("optimizer", optimizer.site)],
                mine,
                explains=mine,
                unless_explained=mine,
                fix="call `step()` after backward",
            )

    def _wiped_before_update(self) -> Verdicts:
        """The same without an optimizer: the update finds zeros."""
        history = self.history
        self._erased = [*self._erased, *history.hand.erased][-64:]
        empty = {update.pid: update.site for update in history.hand.updates if update.empty}
        for site, part, pids in [*self._pending, *self._erased] if empty else ():
            found = pids & empty.keys()
            update = next((empty[pid] for pid in sorted(found)), NOWHERE)
            times = self._by_hand[site, part.site] = self._by_hand.get((site, part.site), 0) + bool(found)
            if found and times >= TIMES and not part.consumed_pids():
                yield Verdict(
                    site,
                    f"this clears the gradient of {networks(history, found)} that backward on "
                    f"{line(history, part.site)} has just put there; nothing is left for the update on "
                    f"{line(history, update)}",
                    [("backward", part.site), ("zero_grad", site), ("update", update)],
                    found,
                    explains=found,
                )
        self._pending = [p for p in self._pending if not p[2] & empty.keys()]
        self._erased = [p for p in self._erased if not p[2] & empty.keys()]

    def on_zero_grad(self, event: ZeroGrad) -> Verdicts:
        if not event.finite or event.by == "hand":
            return ()
        lost: dict[BackwardId, tuple[Contribution, set[ParamId]]] = {}
        for pid in event.params:
            for part in self.history.ledger.unclaimed(pid):
                lost.setdefault(part.bid, (part, set()))[1].add(pid)
        path = way(self.history, event.site, event.chain)
        if lost:
            self._lost_on[event.site] = path
        else:
            self._routine.add(event.site)
            self._ways.setdefault(event.site, set()).add(path)
        for oid in self._waiting.copy():
            if set(event.params) & set(self.history.optimizers[oid].params):
                self._cleared[oid] = self._cleared.get(oid, 0) + 1
                self._waiting.remove(oid)
        for part, pids in lost.values():
            if len(pids & self._read) * 2 >= len(pids):
                self._kept.add(event.site)
            elif event.site not in self._kept and part.bid not in self._for_another:
                self._pending.append((event.site, part, pids))
        self._read.difference_update(event.params)
        del self._pending[:-64]
        return ()

    def on_step(self, event: Step) -> Verdicts:
        optimizer = self.history.optimizers[event.oid]
        owned = set(optimizer.params)
        self._note_in_vain(event, owned)
        mine = [p for p in self._pending if p[2] & owned]
        self._pending = [p for p in self._pending if not p[2] & owned]
        if self._first.began_empty(event) or optimizer.began_empty or optimizer.stepping:
            return
        parts = [part for pid in event.held for part in self.history.ledger.fresh(pid)]
        fresh = {part.site for part in parts}
        if fresh:
            self._fed_once.add(event.oid)
        # What others took of it is no loss to them; an optimizer that never finds anything has lost its share.
        never = event.oid not in self._fed_once
        mine = [p for p in mine if never or not p[1].consumed]
        # What is left came from a loss that trains others, too; all that the lost one gave was for this optimizer.
        others = bool(parts) and all(not owned.issuperset(part.event.fed) for part in parts)
        mine = [
            p for p in mine if not fresh or p[1].site in fresh or (others and p[2].issuperset(p[1].event.fed))
        ]
        before = self._seen.get(event.oid, {})
        seen = {(site, part.site): before.get((site, part.site), 0) + 1 for site, part, _ in mine}
        self._seen[event.oid] = seen
        for site, part, pids in mine:
            again = part.site in fresh
            if (fresh or part.consumed) and (
                seen[site, part.site] < TIMES or (again and site not in self._routine)
            ):
                continue
            left = "only the last part is left for" if again else "nothing of it is left for"
            yield Verdict(
                caller_apart(self.history, self._lost_on.get(site, (site,)), self._ways.get(site, ())),
                f"this clears the gradient of {networks(self.history, pids)} that backward on "
                f"{line(self.history, part.site)} has just put there; {left} the step on "
                f"{line(self.history, event.site)}",
                [("backward", part.site), ("zero_grad", site), ("step", event.site)],
                pids,
                explains=pids,
            )

    def _note_in_vain(self, event: Step, owned: set[ParamId]) -> None:
        """A backward that this step was to take and that feeds others (GS404): those clear it by right."""
        recent = self.history.ledger.recent
        if not event.held and recent and owned.isdisjoint(recent[bid := next(reversed(recent))].event.fed):
            self._for_another.add(bid)
        self._for_another.intersection_update(recent)


rule = GradientWiped
