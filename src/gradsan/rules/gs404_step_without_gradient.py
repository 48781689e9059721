"""GS404: a step with nothing new to apply."""

from __future__ import annotations

from gradsan.judge.flow import REDUCING, SHAPING
from gradsan.judge.history import History, Optimizer
from gradsan.judge.ledger import Contribution
from gradsan.judge.lines.callers import Way, is_one_function, used_in, way, way_of
from gradsan.judge.objective.score_functions import sign_of_step
from gradsan.judge.order.early_steps import EarlySteps
from gradsan.judge.order.first_steps import FirstSteps
from gradsan.judge.report.wording import line, networks
from gradsan.record.events import (
    NOWHERE,
    Backward,
    BackwardId,
    Failed,
    Op,
    Ops,
    OptimizerId,
    ParamId,
    Site,
    Step,
)
from gradsan.rules.base import Rule, Verdict, Verdicts

EMPTY_STEPS = 3


class StepWithoutGradient(Rule):
    code = "GS404"
    name = "step-without-gradient"
    severity = "error"
    what = """
        `step()` ran without any new gradient since the last one. Backward comes after the step, or was skipped, or
        never reaches this optimizer's parameters, because the loss was made of stored actions or of another network.
    """
    why = """
        Either nothing is learned at all, or the last gradient is applied again and again. Neither raises,
        and a momentum optimizer even keeps moving.
    """
    symptom = """
        Loss and return stay where they started; with momentum they go on in the last direction for a
        while.
    """
    fix = "call `loss.backward()` before `step()`, in every iteration that steps"
    deliberate = """
        An optimizer whose parameters are used only now and then (option policies, per-task heads) may step
        without gradient in between: that is not reported as long as it receives some at other times.
    """
    bad = (
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(5):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            opt.step()  # BUG
            loss.backward()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for i in range(6):
            if i % 2 == 0:
                opt.zero_grad()
                (net(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
            opt.step()  # BUG
        """,
        """
        # The temperature's loss looks at the policy, and does not train it.
        import torch
        policy, log_alpha = torch.nn.Linear(3, 2), torch.zeros(1, requires_grad=True)
        opt, alpha_opt = torch.optim.SGD(policy.parameters(), lr=0.1), torch.optim.SGD([log_alpha], lr=0.1)
        for _ in range(6):
            logp, q = policy(torch.randn(8, 3)).log_softmax(1), torch.randn(8, 2)
            alpha_loss = -(log_alpha * (logp.amax(1) + 1.0).detach()).mean()
            alpha_opt.zero_grad()
            alpha_loss.backward()
            alpha_opt.step()
            loss = (logp.exp() * (0.2 * logp - q)).sum(1).mean()
            opt.zero_grad()
            loss.backward  # BUG
            opt.step()
        """,
    )
    good = (
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(5):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        heads = [torch.nn.Linear(3, 1) for _ in range(2)]
        opts = [torch.optim.SGD(h.parameters(), lr=0.1) for h in heads]
        for i in range(8):
            for opt in opts:
                opt.zero_grad()
            (heads[i % 2](torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
            for opt in opts:
                opt.step()
        """,
        """
        # Two players in turn, with one helper; the second has nothing to learn until the game is open.
        import torch
        nets = [torch.nn.Linear(3, 1) for _ in range(2)]
        opts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]
        def update(player, s):
            for opt in opts:
                opt.zero_grad()
            (nets[player](s) - 1.0).pow(2).mean().backward()
            for opt in opts:
                opt.step()
        for i in range(16):
            update(int(i > 11), torch.randn(8, 3))
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._empty: dict[OptimizerId, int] = {}
        self._filled: set[OptimizerId] = set()
        self._filled_ways: set[tuple[OptimizerId, Way]] = set()
        self._in_vain: dict[BackwardId, Step] = {}  # by the backward before it
        self._times: dict[tuple[OptimizerId, Way], int] = {}
        self._first = FirstSteps(history)
        self._early = EarlySteps(history)
        self._lines: dict[Site, None] = {}  # of steps, in their order
        self._applied: set[Way] = set()  # losses that some step took something of
        self._beside: set[OptimizerId] = set()  # whose empty steps follow such a loss
        self._unapplied: dict[OptimizerId, tuple[Way, Site, tuple[ParamId, ...]]] = {}
        self._uses: dict[OptimizerId, Site] = {}

    def on_ops(self, event: Ops) -> Verdicts:
        """The same without an optimizer: one gradient, applied by the same line again and again."""
        history = self.history
        repeated = [update for update in history.hand.updates if update.again]
        for site in dict.fromkeys(update.site for update in repeated):
            here = [update for update in repeated if update.site == site]
            pids, last = [update.pid for update in here], here[0].stale[-1]
            yield Verdict(
                site,
                f"no backward since the last update: the gradient of {networks(history, pids)} from "
                f"{line(history, last.site)} is applied again",
                [("backward", last.site), ("update", site)],
                pids,
            )

    def on_step(self, event: Step) -> Verdicts:
        self._lines[event.site] = None
        self._early.stepped(event)
        ledger, began_empty = self.history.ledger, self._first.began_empty(event)
        if any(ledger.fresh(pid) for pid in event.held):
            self._empty[event.oid] = 0
            self._filled.add(event.oid)
            self._filled_ways.add((event.oid, way(self.history, event.site, event.chain)))
            return
        optimizer = self.history.optimizers[event.oid]
        if event.held and any(ledger.parts.get(pid) for pid in event.held):
            last = next(part for pid in event.held for part in ledger.parts.get(pid, ()))
            yield Verdict(
                event.site,
                f"no backward since the last step: the gradient of {networks(self.history, event.held)} "
                f"from {line(self.history, last.site)} is applied again",
                [("backward", last.site), ("step", event.site)],
                event.held,
            )
            return
        if not event.held and ledger.recent:
            self._in_vain = {bid: step for bid, step in self._in_vain.items() if bid in ledger.recent}
            self._in_vain[next(reversed(ledger.recent))] = event
        empty = self._empty[event.oid] = self._empty.get(event.oid, 0) + 1
        always = optimizer.began_empty and self._first.only_wiped(event)
        late = always or (began_empty and self._first.only_wiped_since(event))
        if empty >= EMPTY_STEPS and late and not self._follows_its_loss(optimizer):
            yield self._too_early(event.oid, event.site, empty)

    def _too_early(self, oid: OptimizerId, site: Site, times: int) -> Verdict:
        params = self.history.optimizers[oid].params
        message = f"this step runs before backward: in {times} iterations it has found no gradient for "
        return Verdict(site, message + networks(self.history, params), [("step", site)], params)

    def on_backward(self, event: Backward) -> Verdicts:
        self._early.went_backward(event)
        return ()

    def _follows_its_loss(self, optimizer: Optimizer) -> bool:
        """The backward just before was that of a loss that these parameters have a part in, as constants: the step
        comes in time, and the loss is cut (GS202)."""
        ledger, graph = self.history.ledger, self.history.graph
        # `autograd.grad` (a penalty inside of the loss) leaves nothing for a step.
        last = next((c for c in reversed(ledger.recent.values()) if c.event.call != "grad"), None)
        roots = [root.nid for root in last.event.roots] if last is not None else []
        if last is None or last.consumed or not set(optimizer.params).isdisjoint(last.event.fed):
            return False
        return bool(graph.value_params(roots) & set(optimizer.params))

    def _ever_fed(self, pids: list[ParamId]) -> bool:
        return any(pid in self.history.ever_fed for pid in pids)

    def on_settled(self, contribution: Contribution) -> Verdicts:
        yield from (
            self._too_early(*line, times)
            for line, times in self._early.settled(contribution)
            if times >= EMPTY_STEPS
        )
        yield from self._of_another(contribution)

    def _of_another(self, contribution: Contribution) -> Verdicts:
        """The helper that ran this backward was given an optimizer that owns nothing of what it fed."""
        history, step = self.history, self._in_vain.pop(contribution.bid, None)
        self._note(contribution, step)
        owners = {o.oid: o for pid in contribution.event.fed for o in history.owner_of(pid)}
        if step is None or contribution.consumed or not owners or contribution.event.chain != step.chain:
            return
        path = way(history, step.site, step.chain)
        key = (step.oid, path)
        times = self._times[key] = self._times.get(key, 0) + 1
        if times < EMPTY_STEPS or key in self._filled_ways or step.oid not in self._filled or len(path) == 1:
            return
        fed = contribution.event.fed
        yield Verdict(
            path[1],
            f"the backward in this call feeds {networks(history, fed)}, but the optimizer that it steps owns none of "
            f"it: the step finds no gradient, and the optimizer of {line(history, next(iter(owners.values())).site)}, "
            "which owns it, does not step",
            [("caller", path[1]), ("backward", contribution.site), ("step", step.site),
             *(("optimizer", o.site) for o in (history.optimizers[step.oid], *owners.values()))],
            fed,
            explains=set(fed),
            fix="hand over the optimizer of the network that this loss trains",
        )  # fmt: skip

    def _note(self, contribution: Contribution, step: Step | None) -> None:
        """Which loss came before an empty step, and whether any other step took something of it."""
        history, roots = self.history, contribution.event.roots
        root = history.graph.get(roots[0].nid) if roots else None
        if contribution.consumed_pids():
            if root is not None:
                self._applied.add(way_of(history, root))
            if step is not None:
                self._beside.add(step.oid)
        elif step is not None and root is not None and root.site:
            known = way_of(history, root), contribution.site, contribution.event.fed
            self._unapplied.setdefault(step.oid, known)
            self._uses.setdefault(step.oid, self._one_use(root))

    def _one_use(self, root: Op) -> Site:
        """Where a loss that is nothing but what a network says, `-score.mean()`, has that from."""
        history, op = self.history, root
        while op.name in SHAPING | REDUCING or sign_of_step(op):
            live = [source for source in history.graph.inputs(op) if source.live]
            if len(live) != 1:
                return NOWHERE
            op = live[0]
        asks = any(source.kind == "parameter" for source in history.graph.inputs(op))
        return used_in(history, op, root) if asks else NOWHERE

    def _meant_for(self, oid: OptimizerId) -> tuple[Site, Site, tuple[ParamId, ...]] | None:
        """The loss that is there for these steps and for no others, by the line that makes it, with its backward and
        what that feeds. Where the same code makes what others step upon, the line that asked for it."""
        if oid in self._beside or oid not in self._unapplied:
            return None
        path, backward, fed = self._unapplied[oid]
        if path not in self._applied:
            return path[0], backward, fed
        asked = (s for s in path if s != backward and is_one_function(self.history, s, backward))
        return next(asked, path[0]), backward, fed

    def on_failed(self, event: Failed) -> Verdicts:
        """A gradient scaler says at once that nothing was sent backward."""
        named = (
            self.history.uncalled("backward", event.site) if event.kind == "nothing-to-unscale" else NOWHERE
        )
        if named:
            yield Verdict(
                named,
                "`backward` is named here and not called: there is nothing to unscale on "
                f"{line(self.history, event.site)}",
                [("backward", named), ("step", event.site)],
            )

    def _uncalled(self) -> Verdicts:
        """`backward` is named and not called, beside others that are, or in one of several phases. Where the optimizer
        never got anything, that is told with its steps."""
        history = self.history
        told = {history.uncalled("backward", history.optimizers[oid].last_step) for oid in self._starved()}
        found: dict[Site, list[Site]] = {}
        for site in self._lines:
            found.setdefault(history.uncalled("backward", site), []).append(site)
        for named, steps in found.items():
            if named and named not in told:
                at = history.sites[named].line
                site = min(steps, key=lambda s: (history.sites[s].line < at, history.sites[s].line))
                yield Verdict(
                    named,
                    f"`backward` is named here and not called: no gradient of it for the step on {line(history, site)}",
                    [("backward", named), ("step", site)],
                )

    def _starved(self) -> list[OptimizerId]:
        """Those that never received anything, where no other rule knows the reason."""
        found = [oid for oid, n in self._empty.items() if oid not in self._filled and n >= EMPTY_STEPS]
        owned = {oid: self.history.optimizers[oid].params for oid in found}
        return [
            o for o in found if not self.history.explained & set(owned[o]) and not self._ever_fed(owned[o])
        ]

    def at_end(self) -> Verdicts:
        yield from self._uncalled()
        for oid in self._starved():
            optimizer = self.history.optimizers[oid]
            named = self.history.uncalled("backward", optimizer.last_step)
            meant = self._meant_for(oid)
            if meant is not None and not named:
                yield self._without_part(optimizer, *meant)
                continue
            why = f": `backward` is named and not called on {line(self.history, named)}" if named else ""
            yield Verdict(
                named or optimizer.last_step,
                f"{optimizer.steps} steps, and never a gradient for {networks(self.history, optimizer.params)}{why}",
                [("backward", named), ("step", optimizer.last_step), ("optimizer", optimizer.site)],
                optimizer.params,
            )

    def _without_part(
        self, optimizer: Optimizer, loss: Site, backward: Site, fed: tuple[ParamId, ...]
    ) -> Verdict:
        history = self.history
        owned = networks(history, optimizer.params)
        own = loss == self._unapplied[optimizer.oid][0][0]
        use = (own and self._uses[optimizer.oid]) or loss
        which = "this loss" if use == loss else f"the loss that {line(history, loss)} makes of this"
        return Verdict(
            use,
            f"{which} teaches nothing to {owned}: its backward on {line(history, backward)} feeds "
            f"{networks(history, fed) or 'nothing'}, and the step on {line(history, optimizer.last_step)} has found no "
            f"gradient, {optimizer.steps} times by now",
            [("use", use), ("loss", loss), ("backward", backward), ("step", optimizer.last_step),
             ("optimizer", optimizer.site)],
            optimizer.params,
            fix="make the loss of what the network that is to learn from it says now, not of what was stored or of "
            "what another says",
        )  # fmt: skip


rule = StepWithoutGradient
