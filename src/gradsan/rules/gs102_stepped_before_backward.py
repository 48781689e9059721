"""GS102: an optimizer changed the weights between a loss's forward and its backward."""

from __future__ import annotations

from gradsan.judge.effect import never_computed
from gradsan.judge.flow import param_users
from gradsan.judge.history import History
from gradsan.judge.leaks.kept_values import kept_over_step
from gradsan.judge.ledger import Contribution
from gradsan.judge.lines.callers import is_one_function, way
from gradsan.judge.lines.carriers import carried_by
from gradsan.judge.order.stepped_weights import stepped_weight
from gradsan.judge.report.wording import line, networks, value_at
from gradsan.record.events import NOBODY, NOWHERE, Backward, BackwardId, ParamId, Site
from gradsan.record.torch_errors import SAVED_TENSOR_CHANGED
from gradsan.rules.base import Rule, Verdict, Verdicts


class SteppedBeforeBackward(Rule):
    code = "GS102"
    name = "stepped-before-backward"
    severity = "error"
    what = """
        A loss was computed, then an optimizer stepped parameters that the loss was computed with, and only
        then backward ran. Or a value that was computed before the step, with gradients on, was kept, and a
        loss that is computed afterwards leads back to it: the log-probs and values of a rollout.
    """
    why = """
        The gradient belongs to weights that are gone. PyTorch raises where it had saved the weight, and stays
        silent where it had not (a bias, a first layer): then the update is simply computed at the wrong point.
        Typical: actor and critic losses computed together, and the critic stepped first.
    """
    symptom = """
        Mostly the run ends with `modified by an inplace operation`, which names a shape and a version
        number but not the step. Where PyTorch is silent, the curve is noisier and lower than that of
        the same algorithm elsewhere.
    """
    fix = (
        "compute each loss after the steps that come before its backward, or do all backwards before any step"
    )
    deliberate = """
        Never for the loss itself. Where the later loss was computed from detached features, it needs
        none of the stepped parameters and nothing is reported.
    """
    bad = (
        """
        import torch
        actor = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
        critic = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        s, a = torch.randn(8, 3), torch.randn(8, 2)
        critic_loss = (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean()
        actor_loss = -critic(torch.cat([s, actor(s)], -1)).mean()
        critic_opt.zero_grad()
        critic_loss.backward()
        critic_opt.step()  # BUG
        actor_opt.zero_grad()
        actor_loss.backward()
        actor_opt.step()
        """,
        """
        import torch
        trunk, pi, v = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
        opt = torch.optim.SGD([*trunk.parameters(), *pi.parameters(), *v.parameters()], lr=0.1)
        for _ in range(3):
            s = torch.randn(8, 3)
            h = trunk(s)
            value, policy = v(h.detach()) + h.sum(-1, keepdim=True), pi(h.detach()) + h.mean(-1, keepdim=True)
            opt.zero_grad()
            (value - 1.0).pow(2).mean().backward(retain_graph=True)
            opt.step()  # BUG
            opt.zero_grad()
            policy.pow(2).mean().backward()
            opt.step()
        """,
        """
        # A rollout with gradients on: its values are constants to PPO's clipped loss, and here they are trained.
        import torch
        critic = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        for _ in range(3):
            s, returns = torch.randn(8, 3), torch.randn(8)
            kept = []
            for state in s:
                kept.append(critic(state))  # BUG
            old_value = torch.cat(kept)
            for epoch in range(3):
                value = critic(s).squeeze(1)
                clipped = old_value + (value - old_value).clamp(-0.2, 0.2)
                loss = torch.max((value - returns).pow(2), (clipped - returns).pow(2)).mean()
                opt.zero_grad()
                loss.backward(retain_graph=True)
                opt.step()
        """,
    )
    good = (
        """
        import torch
        actor = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
        critic = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        s, a = torch.randn(8, 3), torch.randn(8, 2)
        critic_loss = (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean()
        critic_opt.zero_grad()
        critic_loss.backward()
        critic_opt.step()
        actor_loss = -critic(torch.cat([s, actor(s)], -1)).mean()
        actor_opt.zero_grad()
        actor_loss.backward()
        actor_opt.step()
        """,
        """
        import torch
        trunk, pi, v = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
        pi_opt = torch.optim.SGD([*trunk.parameters(), *pi.parameters()], lr=0.1)
        v_opt = torch.optim.SGD(v.parameters(), lr=0.1)
        for _ in range(3):
            h = torch.tanh(trunk(torch.randn(8, 3)))
            pi_loss, v_loss = pi(h).pow(2).mean(), (v(h.detach()) - 1.0).pow(2).mean()
            pi_opt.zero_grad()
            pi_loss.backward()
            pi_opt.step()
            v_opt.zero_grad()
            v_loss.backward()
            v_opt.step()
        """,
        """
        # The multiplier is stepped while a loss that it weighs still waits: what that loss says about the
        # multiplier itself is thrown away, and the policy's gradient is the one of the loss as computed.
        import torch
        policy, log_weight = torch.nn.Linear(3, 2), torch.zeros(1, requires_grad=True)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        weight_opt = torch.optim.SGD([log_weight], lr=0.1)
        for _ in range(5):
            distance = policy(torch.randn(8, 3)).pow(2).mean()
            loss = distance + (log_weight.exp() * (distance - 0.1)).mean()
            weight_opt.zero_grad()
            (-log_weight.exp() * (distance.detach() - 0.1)).mean().backward()
            weight_opt.step()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._late: dict[BackwardId, list[Verdict]] = {}

    def on_backward(self, event: Backward) -> Verdicts:
        if SAVED_TENSOR_CHANGED in event.error:
            changed = event.facts.changed
            if changed is not None and changed.by_step:
                kept = self.history.graph.get(changed.value)
                pids = {changed.owner} if changed.owner else set(event.reached)
                yield self._verdict(event, changed.site, kept.site if kept else NOWHERE, pids)
            elif pid := stepped_weight(self.history, event):
                step = self.history.params[pid].last_step
                yield self._verdict(event, step, event.facts.kept_at, {pid})
            return
        if event.call == "backward" and (late := list(self._silent(event))):
            self._late[event.bid] = late

    def on_settled(self, contribution: Contribution) -> Verdicts:
        """PyTorch found nothing that it needs changed; so only the late gradient of the stepped parameters
        themselves is wrong, and only if somebody applies it."""
        consumed = contribution.consumed_pids()
        for verdict in self._late.pop(contribution.bid, ()):
            if consumed & set(verdict.subjects):
                yield verdict

    def _silent(self, event: Backward) -> Verdicts:
        """The loss goes back to a reading of a parameter that is older than the parameter's last step."""
        history, graph = self.history, self.history.graph
        live = graph.live_ancestors(r.nid for r in event.roots)
        old: dict[Site, set[ParamId]] = {}
        for nid in live:
            pid, epoch = history.param_nodes.get(nid, (NOBODY, 0))
            if pid and pid in event.fed and epoch < history.params[pid].epoch - self._is_being_stepped(pid):
                old.setdefault(history.params[pid].last_step, set()).add(pid)
        for step, pids in old.items():
            users = [op for op in param_users(graph, live, pids) if op.site]
            yield self._verdict(event, step, users[0].site if users else NOWHERE, pids)

    def _is_being_stepped(self, pid: ParamId) -> bool:
        """Whether this backward runs in a step's closure: when that is called for the first time, nothing has changed
        yet, and weights that were read before the step are the ones that count."""
        return any(optimizer.stepping for optimizer in self.history.owner_of(pid))

    def _verdict(self, event: Backward, step: Site, forward: Site, pids: set[ParamId]) -> Verdict:
        history = self.history
        then = [("step", step), ("backward", event.site)]
        if kept := kept_over_step(history, [r.nid for r in event.roots], pids):
            carrier = carried_by(history, kept[0])
            return Verdict(
                carrier,
                f"{value_at(history, kept[0].site, 'a value')} was computed with gradients on and kept while "
                f"{line(history, step)} stepped {networks(history, pids)}: the backward on "
                f"{line(history, event.site)} goes back through it, to weights that the step has changed",
                [("carried over", carrier), *(("kept", op.site) for op in kept), *then],
                pids,
                measure=never_computed,
                fix="collect what is kept as a constant (a rollout's log-probs and values) under "
                "`with torch.no_grad():`; compute what is to be trained anew after the step",
            )
        culprit = self._stepped_by(event, step, pids)
        what = "this step" if culprit == step else "the step in this call"
        return Verdict(
            culprit,
            f"{what} changes {networks(history, pids)} too early: the loss was computed with the weights from before "
            f"({line(history, forward)}), and its backward comes only on {line(history, event.site)}",
            [("forward", forward), ("caller", culprit), *then],
            pids,
            measure=never_computed,
        )

    def _stepped_by(self, event: Backward, step: Site, pids: set[ParamId]) -> Site:
        """A helper that runs backward and steps is right by itself: the call that came too early is to change."""
        history = self.history
        chains = [p.last_step_by for pid in pids if (p := history.params[pid]).last_step == step]
        early = way(history, step, chains[0]) if chains else (step,)
        late = way(history, event.site, event.chain)
        return early[1] if is_one_function(history, step, event.site) and early[1:] != late[1:] else step


rule = SteppedBeforeBackward
