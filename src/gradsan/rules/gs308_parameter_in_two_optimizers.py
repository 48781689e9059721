"""GS308: two optimizers take turns on the same parameter."""

from __future__ import annotations

from gradsan.judge.history import History
from gradsan.judge.ledger import Contribution
from gradsan.judge.lines.callers import optimizer_made_at
from gradsan.judge.lines.optimizer_names import named_for
from gradsan.judge.report.wording import line, networks
from gradsan.record.events import BackwardId, OptimizerId, ParamId, Step
from gradsan.rules.base import Rule, Verdict, Verdicts

TURNS = 2


class ParameterInTwoOptimizers(Rule):
    code = "GS308"
    name = "parameter-in-two-optimizers"
    severity = "warning"
    what = "Two optimizers step the same parameter in turn."
    why = """
        Each keeps its own momentum and its own idea of the scale, and each undoes a part of what the other
        did. A shared trunk listed in the actor's and in the critic's optimizer is the usual case.
    """
    symptom = """
        Policy and value loss pull at each other: one rises when the other falls, and the result hangs
        on the order of the two steps and the ratio of their learning rates.
    """
    fix = (
        "give the shared parameters to one optimizer only, or train with one optimizer on the sum of the "
        "losses"
    )
    deliberate = "An optimizer that replaces another (after loading, for a second phase) is not reported."
    bad = (
        """
        import torch
        trunk, pi, v = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
        actor_opt = torch.optim.SGD([*trunk.parameters(), *pi.parameters()], lr=0.1)
        critic_opt = torch.optim.SGD([*trunk.parameters(), *v.parameters()], lr=0.1)  # BUG
        for _ in range(5):
            s = torch.randn(8, 3)
            actor_opt.zero_grad()
            pi(torch.relu(trunk(s))).pow(2).mean().backward()
            actor_opt.step()
            critic_opt.zero_grad()
            (v(torch.relu(trunk(s))) - 1.0).pow(2).mean().backward()
            critic_opt.step()
        """,
    )
    good = (
        """
        import torch
        trunk, pi, v = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
        actor_opt = torch.optim.SGD([*trunk.parameters(), *pi.parameters()], lr=0.1)
        critic_opt = torch.optim.SGD(v.parameters(), lr=0.1)
        for _ in range(5):
            s = torch.randn(8, 3)
            actor_opt.zero_grad()
            pi(torch.relu(trunk(s))).pow(2).mean().backward()
            actor_opt.step()
            critic_opt.zero_grad()
            (v(torch.relu(trunk(s)).detach()) - 1.0).pow(2).mean().backward()
            critic_opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        for lr in (0.1, 0.01):
            opt = torch.optim.SGD(net.parameters(), lr=lr)
            for _ in range(4):
                opt.zero_grad()
                (net(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
                opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._last: dict[ParamId, OptimizerId] = {}
        self._turns: dict[tuple[OptimizerId, OptimizerId], int] = {}
        self._held: set[OptimizerId] = set()  # those that have found a gradient
        self._in_vain: dict[BackwardId, OptimizerId] = {}  # by the backward before the step
        self._times: dict[OptimizerId, int] = {}

    def on_settled(self, contribution: Contribution) -> Verdicts:
        """Of two that own the same, one never finds a gradient: nobody takes what the loss before its steps feeds,
        though an optimizer owns that, too. (Where none does, GS206 tells it.)"""
        history, oid = self.history, self._in_vain.pop(contribution.bid, None)
        fed = contribution.event.fed
        if oid is None or oid in self._held or contribution.consumed or not fed:
            return
        if not all(history.owner_of(pid) for pid in fed):
            return
        params = history.optimizers[oid].params
        others = [o for o in history.owner_of(params[0]) if o.oid in self._held] if params else []
        if not others or not set(params) <= set(others[0].params) or not set(fed).isdisjoint(params):
            return
        times = self._times[oid] = self._times.get(oid, 0) + 1
        if times > TURNS:
            mine, theirs = (optimizer_made_at(history, o) for o in (history.optimizers[oid], others[0]))
            yield Verdict(
                mine,
                f"this optimizer owns {networks(history, params)}, which the one of {line(history, theirs)} steps: it "
                f"finds no gradient, and nobody takes that of {networks(history, fed)} from "
                f"{line(history, contribution.site)}",
                [("optimizer", theirs), ("optimizer", mine), ("backward", contribution.site)],
                params,
                explains=set(fed),
                fix=f"give it the parameters of {networks(history, fed)}",
                severity="error",
            )

    def on_step(self, event: Step) -> Verdicts:
        recent = self.history.ledger.recent
        self._in_vain = {bid: oid for bid, oid in self._in_vain.items() if bid in recent}
        if event.held:
            self._held.add(event.oid)
        elif recent:
            self._in_vain[next(reversed(recent))] = event.oid
        optimizers = self.history.optimizers
        shared: dict[OptimizerId, list[ParamId]] = {}
        for pid in event.held:
            before = self._last.get(pid)
            if before is not None and before != event.oid:
                shared.setdefault(before, []).append(pid)
            self._last[pid] = event.oid
        for other, pids in shared.items():
            first, second = sorted((event.oid, other))
            turns = self._turns[first, second] = self._turns.get((first, second), 0) + 1
            if turns > TURNS:
                both = [optimizers[second], optimizers[first]]
                if named_for(self.history, both, pids) is both[0]:
                    both.reverse()  # the other is none of theirs
                later, earlier = (optimizer_made_at(self.history, o) for o in both)
                yield Verdict(
                    later,
                    f"{networks(self.history, pids)} is stepped by this optimizer and by the one made on "
                    f"{line(self.history, earlier)}, in turn",
                    [("optimizer", earlier), ("optimizer", later)],
                    pids,
                )


rule = ParameterInTwoOptimizers
