"""GS204: an optimizer owns a parameter that takes part in no loss."""

from __future__ import annotations

from gradsan.judge.history import History, Optimizer
from gradsan.judge.ledger import Contribution
from gradsan.judge.lines.callers import optimizer_made_at
from gradsan.judge.missing.dropped_losses import Dropped, DroppedLosses
from gradsan.judge.missing.hidden_cuts import cut_before_transform
from gradsan.judge.report.wording import line, networks
from gradsan.record.events import ParamId
from gradsan.rules.base import Rule, Verdict, Verdicts

ENOUGH_STEPS = 5


class UnusedParameter(Rule):
    code = "GS204"
    name = "unused-parameter"
    severity = "warning"
    what = "A parameter was given to an optimizer, and over the whole run no loss ever reached it."
    why = """
        A layer that is built and never called, a head that the forward pass skips: it keeps its initial
        values for ever. Where its output is used all the same, the policy acts on noise.
    """
    symptom = """
        Often none: the curve is that of a smaller network. Where the layer was meant to matter (a
        second critic, an exploration bonus, an auxiliary head), what it puts out is the same noise at
        the end as at the beginning.
    """
    fix = "use the layer in the forward pass of a loss, or remove it"
    deliberate = (
        "Parameters that some loss reaches now and then (option policies, per-task heads) are not reported."
    )
    bad = (
        """
        import torch
        net = torch.nn.ModuleDict({"pi": torch.nn.Linear(3, 2), "unused": torch.nn.Linear(3, 1)})
        opt = torch.optim.SGD(net.parameters(), lr=0.1)  # BUG
        for _ in range(6):
            loss = (net["pi"](torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # The action is cut on its way into what maps over all critics.
        import torch
        from torch.func import functional_call, stack_module_state
        actor, critics = torch.nn.Linear(3, 1), [torch.nn.Linear(4, 1) for _ in range(2)]
        weights = {n: torch.nn.Parameter(w) for n, w in stack_module_state(critics)[0].items()}
        opt = torch.optim.SGD([*actor.parameters(), *weights.values()], lr=0.01)
        def q(params, x):
            return functional_call(critics[0], params, (x,)).squeeze(-1)
        for _ in range(8):
            s, a = torch.randn(8, 3), torch.randn(8, 1)
            x = torch.stack([torch.cat([s, actor(s).tanh().detach()], -1), torch.cat([s, a], -1)])  # BUG
            frozen = {n: w.detach() for n, w in weights.items()}
            both = {n: torch.stack([frozen[n], w]) for n, w in weights.items()}
            for_actor, predicted = torch.vmap(torch.vmap(q, (0, None)))(both, x).unbind(0)
            loss = (predicted - 1.0).pow(2).mean() - for_actor.mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        net = torch.nn.ModuleDict({"pi": torch.nn.Linear(3, 2), "value": torch.nn.Linear(3, 1)})
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(6):
            s = torch.randn(8, 3)
            loss = (net["pi"](s) - 1.0).pow(2).mean() + (net["value"](s) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        heads = torch.nn.ModuleList([torch.nn.Linear(3, 1) for _ in range(3)])
        opt = torch.optim.SGD(heads.parameters(), lr=0.1)
        for i in range(9):
            loss = (heads[i % 3](torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Natural gradient: one optimizer holds both networks and steps the critic; the policy's gradient
        # is asked for and applied by hand.
        import torch
        net = torch.nn.ModuleDict({"pi": torch.nn.Linear(3, 2), "v": torch.nn.Linear(3, 1)})
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        policy = list(net["pi"].parameters())
        for _ in range(6):
            s = torch.randn(8, 3)
            surrogate = net["pi"](s).log_softmax(1)[:, 0].mean()
            for p, g in zip(policy, torch.autograd.grad(surrogate, policy)):
                p.data = p.data + 0.1 * g
            loss = (net["v"](s) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        from torch.func import functional_call, stack_module_state
        actor, critics = torch.nn.Linear(3, 1), [torch.nn.Linear(4, 1) for _ in range(2)]
        weights = {n: torch.nn.Parameter(w) for n, w in stack_module_state(critics)[0].items()}
        opt = torch.optim.SGD([*actor.parameters(), *weights.values()], lr=0.01)
        def q(params, x):
            return functional_call(critics[0], params, (x,)).squeeze(-1)
        for _ in range(8):
            s, a = torch.randn(8, 3), torch.randn(8, 1)
            x = torch.stack([torch.cat([s, actor(s).tanh()], -1), torch.cat([s, a], -1)])
            frozen = {n: w.detach() for n, w in weights.items()}
            both = {n: torch.stack([frozen[n], w]) for n, w in weights.items()}
            for_actor, predicted = torch.vmap(torch.vmap(q, (0, None)))(both, x).unbind(0)
            loss = (predicted - 1.0).pow(2).mean() - for_actor.mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._dropped = DroppedLosses(history)

    def on_settled(self, contribution: Contribution) -> Verdicts:
        self._dropped.settled(contribution)
        return ()

    def at_end(self) -> Verdicts:
        history = self.history
        for optimizer in history.optimizers.values():
            if optimizer.steps < ENOUGH_STEPS or not history.ever_fed & set(optimizer.params):
                continue
            unused = [
                pid
                for pid in dict.fromkeys(optimizer.params)
                if (pid not in history.ever_reached or self._is_left_out(pid))
                and pid not in history.explained
                and history.params[pid].requires_grad
                and not history.params[pid].thawed  # most steps may have been before that
                and not history.params[pid].epoch
                and not history.networks.is_target(pid)
            ]
            by_loss: dict[Dropped | None, list[ParamId]] = {}
            for pid in unused:
                by_loss.setdefault(self._dropped.of.get(pid), []).append(pid)
            for dropped, pids in by_loss.items():
                yield self._left_out(optimizer, pids, dropped) if dropped else self._verdict(optimizer, pids)

    def _is_left_out(self, pid: ParamId) -> bool:
        """Whether it has a loss that nobody sends backward, and no step has ever taken what others leave there."""
        return pid in self._dropped.of and pid not in self._dropped.applied

    def _verdict(self, optimizer: Optimizer, unused: list[ParamId]) -> Verdict:
        history, constants = self.history, self.history.cuts.constants
        constant = dict.fromkeys(constants[pid] for pid in unused if pid in constants)
        entry = (
            f"; it enters a loss only as a constant, on {line(history, min(constant))}" if constant else ""
        )
        if cut := cut_before_transform(history, set(unused)):
            entry = f"; {line(history, cut)} takes it out of its graph, before a transform is given it"
        return Verdict(
            cut or optimizer_made_at(history, optimizer),
            f"{networks(history, unused)} is given to an optimizer, but in "
            f"{optimizer.steps} steps no loss has reached it{entry}",
            [("cut", cut), ("optimizer", optimizer.site), *(("constant", site) for site in constant)],
            unused,
        )

    def _left_out(self, optimizer: Optimizer, unused: list[ParamId], dropped: Dropped) -> Verdict:
        history = self.history
        return Verdict(
            dropped.change,
            f"none of the {optimizer.steps} steps has a gradient for {networks(history, unused)}: nobody calls "
            f"`backward()` on the loss that {line(history, dropped.made)} makes of it",
            [("left out", dropped.change), ("loss", dropped.made), ("optimizer", optimizer.site)],
            unused,
            fix="add it to the loss that is sent backward",
        )


rule = UnusedParameter
