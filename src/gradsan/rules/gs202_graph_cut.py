"""GS202: a parameter's value flows into the loss, its gradient does not flow back."""

from __future__ import annotations

from gradsan.judge.flow import culprit_of, cut_off
from gradsan.judge.ledger import Contribution
from gradsan.judge.lines.caches import cached_at
from gradsan.judge.lines.callers import cut_in
from gradsan.judge.lines.recorded import use_of_recorded
from gradsan.judge.lines.switched_helpers import asked_without_gradients
from gradsan.judge.missing.bare_starts import BareStart, bare_starts
from gradsan.judge.missing.cures import cure
from gradsan.judge.missing.cuts import Cut, cause
from gradsan.judge.missing.frozen_parts import frozen_behind
from gradsan.judge.report.wording import line, networks, value_at
from gradsan.record.events import NOTHING, Backward, Failed, Op, Site, ValueId
from gradsan.record.torch_errors import kind_of
from gradsan.rules.base import Rule, Verdict, Verdicts


class GraphCut(Rule):
    code = "GS202"
    name = "graph-cut"
    severity = "error"
    needs_deep = True
    what = """
        A parameter has a part in the value of the loss, but the way back is cut: by `detach`, `no_grad`,
        `.item()`, `.numpy()`, `torch.tensor(list_of_tensors)`, `.data`, an integer cast or a comparison. What
        the loss was to teach that parameter never arrives.
    """
    why = """
        Another term usually keeps `backward()` happy, so nothing raises: the entropy bonus trains the policy
        while the policy gradient is a constant, or the critic stays as it was initialised and the advantages
        are noise.
    """
    symptom = """
        The return stays where it started, while other curves look healthy: the value loss falls or the
        entropy rises, because the term behind it is still connected.
    """
    fix = "keep the tensors themselves (`torch.stack(log_probs)`), and detach only targets and advantages"
    deliberate = """
        A detached value is right wherever the parameter learns from another loss: the encoder trained by the
        critic alone, the advantage in the policy loss. That is not reported.
    """
    bad = (
        """
        import torch
        policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.1)
        for _ in range(6):
            s, returns = torch.randn(8, 3), torch.randn(8)
            dist = torch.distributions.Categorical(logits=policy(s))
            log_probs = [dist.log_prob(dist.sample())[i] for i in range(8)]
            value = critic(s).squeeze(-1)
            log_probs = torch.tensor(log_probs)  # BUG
            loss = -(log_probs * (returns - value.detach())).mean() + (value - returns).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(6):
            dist = torch.distributions.Categorical(logits=policy(torch.randn(8, 3)))
            log_probs = [p for p in dist.log_prob(dist.sample())]
            joined = torch.tensor(log_probs, requires_grad=True)  # BUG
            loss = -(joined * torch.randn(8)).mean() - 0.01 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        encoder, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
        opt = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
        for _ in range(8):
            z = encoder(torch.randn(8, 3)).detach()  # BUG
            loss = (head(z) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.1)
        for _ in range(6):
            s, returns = torch.randn(8, 3), torch.randn(8)
            dist = torch.distributions.Categorical(logits=policy(s))
            log_probs = [dist.log_prob(dist.sample())[i] for i in range(8)]
            value = critic(s).squeeze(-1)
            log_probs = torch.stack(log_probs)
            loss = -(log_probs * (returns - value.detach())).mean() + (value - returns).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        encoder, actor, critic = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
        actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
        critic_opt = torch.optim.SGD([*encoder.parameters(), *critic.parameters()], lr=0.1)
        for _ in range(6):
            s = torch.randn(8, 3)
            critic_opt.zero_grad()
            (critic(encoder(s)) - 1.0).pow(2).mean().backward()
            critic_opt.step()
            actor_opt.zero_grad()
            actor(encoder(s).detach()).pow(2).mean().backward()
            actor_opt.step()
        """,
        """
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(6):
            s, a, adv = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
            with torch.no_grad():
                old = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
            for _ in range(2):
                new = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
                loss = -((new - old).exp() * adv).mean() + 0.1 * (old - new).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
        """,
    )

    def on_backward(self, event: Backward) -> Verdicts:
        """`autograd.grad` by a tensor that the output does not lead to."""
        if not event.error or kind_of(event.error) != "input-unused":
            return
        history, roots = self.history, [root.nid for root in event.roots if root.nid]
        missing = set(event.facts.asked).difference(event.reached)
        cut = history.cuts.in_loss(roots, missing)
        if cut is None:
            live = history.graph.live_ancestors(roots)
            unused = [nid for nid in event.facts.asked_values if nid not in live]
            op = cut_off(history.graph, roots, unused)
            cut = Cut(op, missing, False) if op is not None else None
        if cut is not None:
            what = networks(history, cut.pids) or "what it is to be differentiated by"
            # A `detach` says that it is meant: then the call asks for too much.
            culprit = event.site if cut.op.name == "detach" else culprit_of(cut.op)
            yield Verdict(
                culprit,
                f"no gradient comes back to {what} from the output on {line(history, event.site)}: "
                f"{cause(history, cut)}",
                [("cut", culprit_of(cut.op)), ("cut", cut.op.site), ("backward", event.site)],
                cut.pids,
            )

    def on_failed(self, event: Failed) -> Verdicts:
        """A tensor made in inference mode can never be part of a graph again: PyTorch refuses its use."""
        if event.kind != "inference-tensor":
            return
        made = self._made_in_inference(event.value)
        off = (made.facts.grad_off if made is not None else event.origin) or event.origin
        made_at = made.site if made is not None else off
        what = value_at(self.history, made_at, "a tensor") if made is not None else "a tensor"
        where = f" ({line(self.history, made_at)})" if made_at else "; run with `--mode deep` to see where"
        yield Verdict(
            off or event.site,
            f"{what} was made in inference mode{where}: autograd cannot record its use on "
            f"{line(self.history, event.site)}",
            [("inference mode", off), ("made", made_at), ("used", event.site)],
            fix="use `torch.no_grad()` instead of `torch.inference_mode()`, or `.clone()` the tensor where it is used",
        )

    def _made_in_inference(self, value: ValueId) -> Op | None:
        """The newest value behind this one, itself included, that was made in inference mode."""
        graph = self.history.graph
        if graph.get(value) is None or value == NOTHING:
            return None
        behind = graph.ancestors([value])
        return next((behind[nid] for nid in sorted(behind, reverse=True) if behind[nid].facts.grad_off), None)

    def on_settled(self, contribution: Contribution) -> Verdicts:
        known = self.history.dead_checkpoints  # GS210 tells those
        found = [
            self._verdict(cut, contribution)
            for cut in contribution.cuts
            if not cut.choice
            and cut.op.facts.grad_off not in known
            # What lies behind such a cut was frozen: GS207 says so.
            and not (cut.op.name == "detach" and frozen_behind(self.history, cut))
        ]
        starts = bare_starts(self.history, contribution)
        return [*found, *(self._verdict_of_start(start, contribution) for start in starts)]

    def _verdict_of_start(self, found: BareStart, contribution: Contribution) -> Verdict:
        history, cut = self.history, found.cut
        return Verdict(
            culprit_of(cut),
            f"the update on {line(history, found.update.site)} is differentiated, but starts from a bare copy of "
            f"{networks(history, found.pids)}: what the outer loss says about these weights comes back through the "
            "gradient alone, not through what it was subtracted from",
            [("cut", cut.site), ("update", found.update.site), ("backward", contribution.site)],
            found.pids,
            fix="subtract from the weights themselves: `w - lr * g`",
        )

    def _verdict(self, cut: Cut, contribution: Contribution) -> Verdict:
        history, kept = self.history, cached_at(self.history, cut.op, contribution)
        used = use_of_recorded(history, cut.op, cut.pids, contribution)
        wrong = {other.op.nid for other in contribution.cuts}
        asked = asked_without_gradients(history, cut.op, wrong, contribution.bid)
        site = kept or used or asked or cut_in(history, cut.op, contribution)
        shown = cut.op.site if cut.op.facts.grad_off and not used else site
        back = self._return(cut)
        entry = (
            f"; `torch.{back[0]}` on line {history.sites[back[1]].line} makes a new tensor of it, without its history"
            if back
            else ""
        )
        sites = [("cut", site), ("cut", cut.op.site)] if site != cut.op.site else [("cut", site)]
        if kept or used or asked:
            sites.append(("gradients off", cut.op.facts.grad_off))
        if back:
            sites.append(("re-entry", back[1]))
        return Verdict(
            site,
            f"the loss depends on {networks(history, cut.pids)} through {value_at(history, shown)}, but no gradient "
            f"comes back this way: {cause(history, cut)}{entry}",
            [*sites, ("backward", contribution.site)],
            cut.pids,
            explains=cut.pids,
            fix="do not keep it, or only until the next step; what was made without gradients teaches nothing later on"
            if kept
            else cure(cut),
        )

    def _return(self, cut: Cut) -> tuple[str, Site] | None:
        """Where a number that left the tensor world came back."""
        graph = self.history.graph
        for nid in graph.consumers.get(cut.op.nid, ()):
            op = graph.get(nid)
            if (
                op is not None
                and op.site
                and op.name in ("tensor", "as_tensor", "FloatTensor", "from_numpy", "asarray")
            ):
                return op.name, op.site
        return None


rule = GraphCut
