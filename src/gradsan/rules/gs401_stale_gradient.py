"""GS401: a step consumes gradient that an earlier step has consumed already."""

from __future__ import annotations

from functools import partial

from gradsan.judge.effect import share_added
from gradsan.judge.history import History
from gradsan.judge.order.left_over import LeftOver, LeftOverBook
from gradsan.judge.report.wording import line, networks
from gradsan.record.events import NOWHERE, Ops, ParamId, Site, Step
from gradsan.rules.base import Rule, Verdict, Verdicts


class StaleGradient(Rule):
    code = "GS401"
    name = "stale-gradient"
    severity = "error"
    what = """
        `step()` applied gradient that an earlier `step()` had applied already. `backward()` adds to
        `.grad`; nothing cleared it in between, so every update repeats all the ones before it.
    """
    why = """
        The effective learning rate grows with every iteration, and the direction is an average over
        data that is long gone: in RL, data of policies that no longer exist.
    """
    symptom = """
        The return rises for a moment, then oscillates or collapses, and a smaller learning rate only
        delays it. The gradient norm grows from update to update.
    """
    fix = "call `optimizer.zero_grad()` once per update, before `backward()`, on the optimizer that steps"
    deliberate = """
        Accumulating over micro-batches (several backwards, then one step and one `zero_grad`) is not
        reported: no part of the gradient is consumed twice.
    """
    bad = (
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            loss.backward()
            opt.step()  # BUG
        """,
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        for _ in range(4):
            s = torch.randn(8, 3)
            actor_opt.zero_grad()
            critic_loss = (critic(s) - 1.0).pow(2).mean()
            critic_loss.backward()
            critic_opt.step()  # BUG
            actor_loss = actor(s).pow(2).mean()
            actor_loss.backward()
            actor_opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            loss.backward()
            with torch.no_grad():
                for p in net.parameters():
                    p -= 0.1 * p.grad  # BUG
        """,
    )
    good = (
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            opt.zero_grad()
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            for _ in range(4):
                loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean() / 4
                loss.backward()
            opt.step()
            opt.zero_grad()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            for p in net.parameters():
                p.grad = None
            loss.backward()
            opt.step()
        """,
    )

    def on_ops(self, event: Ops) -> Verdicts:
        """The same without an optimizer: `p -= lr * p.grad`."""
        history = self.history
        mixed = [u for u in history.hand.updates if u.stale and u.fresh]
        for site in dict.fromkeys(update.site for update in mixed):
            here = [update for update in mixed if update.site == site]
            pids = [update.pid for update in here]
            old, new = here[0].stale, here[0].fresh
            yield Verdict(
                site,
                f"this update applies the gradient of {networks(history, pids)} from {len(old)} earlier "
                f"backward{'s' if len(old) > 1 else ''} ({line(history, old[0].site)}) once more: nothing cleared it "
                "since the last update",
                [("backward", s) for s in dict.fromkeys(p.site for p in [*old, *new])] + [("update", site)],
                pids,
                measure=partial(share_added, history, new[0], set(pids), by_this=False),
                fix="clear the gradients after each update: `p.grad = None`",
            )
        yield from self._estimates()

    def _estimates(self) -> Verdicts:
        """What the script itself puts into `.grad` (evolution, finite differences), added to what was stepped with."""
        found: dict[Site, list[ParamId]] = {}
        steps: dict[Site, Site] = {}
        for pid, site, spent in self.history.hand.added:
            found.setdefault(site, []).append(pid)
            steps[site] = spent.consumed[-1].site if spent.consumed else NOWHERE
        for site, pids in found.items():
            step = steps[site]
            yield Verdict(
                site,
                f"this adds to the gradient of {networks(self.history, pids)} that the step on "
                f"{line(self.history, step)} has applied already: the next one applies it once more",
                [("gradient", site), ("step", step)],
                pids,
                fix="put the new gradient in its place: `p.grad = g`",
            )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._left_over = LeftOverBook(history)

    def on_step(self, event: Step) -> Verdicts:
        if (found := self._left_over.look(event)) is not None:
            yield self._taken_along(found)
        ledger = self.history.ledger
        both = [pid for pid in event.held + event.lent if ledger.stale(pid) and ledger.fresh(pid)]
        if not both:
            return
        old = {part.site: None for pid in both for part in ledger.stale(pid)}
        new = {part.site: None for pid in both for part in ledger.fresh(pid)}
        times = len(ledger.stale(both[0]))
        named = self.history.uncalled("zero_grad", event.site)
        yield Verdict(
            named or event.site,
            f"{'`zero_grad` is named here and not called: the' if named else 'this'} step applies the gradient of "
            f"{networks(self.history, both)} from {times} earlier backward{'s' if times > 1 else ''} "
            f"({line(self.history, next(iter(old)))}) once more: nothing cleared it since the last step",
            [("backward", site) for site in [*old, *new]] + [("step", event.site)],
            both,
            measure=lambda: share_added(self.history, ledger.fresh(both[0])[0], set(both), by_this=False),
        )

    def _taken_along(self, found: LeftOver) -> Verdict:
        backward, usual = found.parts[-1].site, found.usual
        why = f"and each is divided by {usual}" if usual > 1 else "the others one"
        return Verdict(
            found.step.site,
            f"this step takes the gradient of {len(found.parts)} backwards on {line(self.history, backward)}, {why}: "
            "what is left lying where no step follows its backward is taken along by the next one",
            [("backward", backward), ("left out", found.left_at), ("step", found.step.site)],
            found.parts[-1].event.fed,
            measure=lambda: share_added(
                self.history, found.parts[-1], set(found.parts[-1].event.fed), by_this=False
            ),
            severity="error" if found.certain else "warning",
            fix="clear the gradients where the step is left out, or call `optimizer.zero_grad()` before each backward "
            "(before the first of a window)",
        )


rule = StaleGradient
