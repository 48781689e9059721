"""GS304: a step consumes gradient that belongs to another loss."""

from __future__ import annotations

from itertools import groupby

from gradsan.judge import flow
from gradsan.judge.effect import from_outside, share_added, share_through
from gradsan.judge.history import History
from gradsan.judge.leaks.dual_terms import DualTerm, dual_terms
from gradsan.judge.leaks.fitted_weights import FittedWeight, fitted_weights, made_for_it
from gradsan.judge.leaks.half_parted import MANY, HalfParted, half_parted
from gradsan.judge.leaks.mixed_pairs import MixedPair, mixed_pairs
from gradsan.judge.leaks.soft_values import SoftValue, soft_values
from gradsan.judge.ledger import BY_HAND, Contribution
from gradsan.judge.lines.callers import apart_from, used_in
from gradsan.judge.order.by_hand import Doubled, HandUpdate
from gradsan.judge.provenance import params_of
from gradsan.judge.report.findings import Effect
from gradsan.judge.report.wording import line, networks, value_at
from gradsan.record.events import BackwardId, Op, Ops, OptimizerId, ParamId, Site, Step, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts


class CrossLossGradient(Rule):
    code = "GS304"
    name = "cross-loss-gradient"
    severity = "error"
    what = """
        An optimizer stepped on gradient that the backward of another loss had left in its parameters. Typical: the
        actor's loss goes through the critic, so its backward lets gradient flow into the critic's `.grad`, too; or it
        lets gradient flow into the temperature.
    """
    why = """
        The critic is then also trained to please the actor: its values are pushed up wherever the actor
        goes, and the policy exploits them. A temperature is driven to where the actor's penalty is smallest,
        not to where the entropy is the wanted one.
    """
    symptom = """
        Q-values drift upwards, far above any return that was ever seen; the return rises at first and
        then collapses.
    """
    fix = (
        "call `zero_grad()` on an optimizer right before its own backward, or freeze the critic in the "
        "actor's loss"
    )
    deliberate = """
        Several losses that are backwarded into one step on purpose (value + policy + entropy) are not reported, nor
        is a shared trunk that collects the gradients of its heads.
    """
    bad = (
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
        actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        for _ in range(5):
            s, a = torch.randn(8, 3), torch.randn(8, 2)
            critic_loss = (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean()
            critic_loss.backward()
            critic_opt.step()
            critic_opt.zero_grad()
            actor_loss = -critic(torch.cat([s, actor(s)], -1)).mean()  # BUG
            actor_loss.backward()
            actor_opt.step()
            actor_opt.zero_grad()
        """,
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
        actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        for _ in range(5):
            s, a = torch.randn(8, 3), torch.randn(8, 2)
            critic_loss = (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean()
            actor_loss = -critic(torch.cat([s, actor(s)], -1)).mean()  # BUG
            actor_opt.zero_grad()
            critic_opt.zero_grad()
            critic_loss.backward()
            actor_loss.backward()
            critic_opt.step()
            actor_opt.step()
        """,
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
        opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
        for _ in range(5):
            s, a = torch.randn(8, 3), torch.randn(8, 2)
            critic_loss = (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean()
            actor_loss = -critic(torch.cat([s, actor(s)], -1)).mean()  # BUG
            opt.zero_grad()
            (critic_loss + actor_loss).backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
        actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        for _ in range(5):
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
        trunk_opt = torch.optim.SGD(trunk.parameters(), lr=0.1)
        pi_opt, v_opt = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (pi, v))
        for _ in range(5):
            h = torch.tanh(trunk(torch.randn(8, 3)))
            for opt in (trunk_opt, pi_opt, v_opt):
                opt.zero_grad()
            pi(h).pow(2).mean().backward(retain_graph=True)
            (v(h) - 1.0).pow(2).mean().backward()
            for opt in (trunk_opt, pi_opt, v_opt):
                opt.step()
        """,
        """
        import torch
        net, v = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD([*net.parameters(), *v.parameters()], lr=0.1)
        for _ in range(5):
            s, a, returns = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
            dist = torch.distributions.Categorical(logits=net(s))
            value = v(s).squeeze(-1)
            policy_loss = -(dist.log_prob(a) * (returns - value).detach()).mean()
            loss = policy_loss + (value - returns).pow(2).mean() - 0.01 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._uses: dict[Site, Site] = {}  # by the line of the backward: not every iteration is traced

    def on_step(self, event: Step) -> Verdicts:
        ledger = self.history.ledger
        foreign: dict[BackwardId, tuple[Contribution, set[ParamId]]] = {}
        own: dict[BackwardId, tuple[Contribution, set[ParamId]]] = {}
        for pid in event.held:
            fresh = ledger.fresh(pid)
            if len(fresh) < 2:
                continue
            for part in fresh:
                belongs = part.bid == BY_HAND or not self._belongs_elsewhere(part, fresh, pid, event.oid)
                (own if belongs else foreign).setdefault(part.bid, (part, set()))[1].add(pid)
        mixed = {pid for _, pids in foreign.values() for pid in pids} & {
            p for _, pids in own.values() for p in pids
        }
        if mixed:
            other = next(iter(foreign.values()))[0]
            yield self._verdict(event.site, other, [p for p, _ in own.values()], mixed)

    def on_ops(self, event: Ops) -> Verdicts:
        """The same without an optimizer: what another loss left there is applied by hand."""
        for site, updates in groupby(self.history.hand.updates, lambda update: update.site):
            found = [(u, part) for u in updates for part in u.fresh if self._only_passes(part, u)]
            if found:
                update, foreign = found[0]
                own = [part for part in update.fresh if part.site != foreign.site]
                yield self._verdict(site, foreign, own, {u.pid for u, _ in found})

        for kept, doubled in groupby(self.history.hand.doubled, lambda found: found.kept):
            yield self._added_to_itself(kept, list(doubled))

    def _added_to_itself(self, kept: Site, doubled: list[Doubled]) -> Verdict:
        history, added = self.history, doubled[0].added
        pids = [found.pid for found in doubled]
        return Verdict(
            kept,
            f"this keeps the gradient of {networks(history, pids)} by name, not as a copy: what clears or "
            f"fills `.grad` later changes what was kept, too, and {line(history, added)} adds a gradient to itself",
            [("kept by reference", kept), ("added", added)],
            pids,
            fix="keep a copy: `p.grad.clone()`",
        )

    def _only_passes(self, part: Contribution, update: HandUpdate) -> bool:
        """Whether this backward goes through the parameter to others, which it was applied to, while another one, that
        does not touch those, is applied here, too."""
        others = [other for other in update.fresh if other.site != part.site]
        touched = {pid for other in others for pid in other.event.fed}
        beyond = set(part.by_hand) - touched - {update.pid}
        if not others or not beyond:
            return False
        graph = self.history.graph
        live = graph.live_ancestors(r.nid for r in part.event.roots)
        return flow.is_upstream(graph, beyond, {update.pid}, live)

    def _belongs_elsewhere(
        self, part: Contribution, fresh: list[Contribution], pid: ParamId, oid: OptimizerId
    ) -> bool:
        """Another optimizer has stepped on this backward already, or it flows through `pid` to parameters
        that another optimizer owns and the other losses do not touch."""
        if any(c.oid != oid for c in part.consumed):
            return not all(any(c.oid != oid for c in other.consumed) for other in fresh)
        history, graph = self.history, self.history.graph
        mine = set(history.optimizers[oid].params)
        beyond = {p for p in part.event.fed if p not in mine and history.owner_of(p)}
        others = {p for other in fresh if other is not part for p in other.event.fed}
        beyond -= others
        if not beyond:
            return False
        live = graph.live_ancestors(r.nid for r in part.event.roots)
        return flow.is_upstream(graph, beyond, {pid}, live)

    def on_settled(self, contribution: Contribution) -> Verdicts:
        """One backward of a sum: the actor's term reaches the actor through the critic, and trains both."""
        consumed = contribution.consumed_pids()
        graph = self.history.graph
        for weight in fitted_weights(self.history, contribution):
            yield self._verdict_of_weight(contribution, weight)
        for pair in mixed_pairs(self.history, contribution):
            yield self._verdict_of_pair(contribution, pair)
        for soft in soft_values(self.history, contribution):
            yield self._verdict_of_soft_value(contribution, soft)
        for dual in dual_terms(self.history, contribution):
            yield self._verdict_of_dual(contribution, dual)
        for root in contribution.event.roots:
            op = graph.get(root.nid)
            if op is None or not consumed:
                continue
            for found in half_parted(self.history, op, consumed):
                yield self._verdict_of_half(contribution, found)
            live = [t for t in flow.terms(graph, op) if t.op.live]
            if len(live) > MANY:  # a rollout, step by step: one of each line
                live = list({t.op.site: t for t in live}.values())
            reach = {t.op.nid: graph.live_params([t.op.nid]) & consumed for t in live}
            for term in live:
                critic = self._exploited(term, live, reach)
                if critic:
                    steps = [c.site for c in contribution.consumed if c.pids & critic]
                    steps = steps or [s for p, s in contribution.by_hand.items() if p in critic]
                    others = [t.op.nid for t in live if t is not term]
                    yield self._verdict_of_sum(contribution, term, others, critic, steps[-1])

    def _verdict_of_weight(self, contribution: Contribution, found: FittedWeight) -> Verdict:
        history, product, fit = self.history, found.product, found.fit
        made = made_for_it(history.graph, found)
        culprit = made.site if made is not None else used_in(history, product, fit)
        step = next((c.site for c in contribution.consumed if c.pids & found.pids), contribution.site)
        return Verdict(
            culprit,
            f"{value_at(history, culprit, 'the weight')} weighs what is fitted on {line(history, fit.site)} and should "
            f"be a constant there: that loss also trains {networks(history, found.pids)}, which has a term of its own "
            f"on {line(history, found.score.site)}, and the step on {line(history, step)} applies both",
            [("weight", found.weight.site), ("live use", product.site), ("fit", fit.site),
             ("backward", contribution.site), ("step", step)],
            found.pids,
            measure=lambda: share_through(history, contribution, [(product.nid, found.weight.nid)]),
            fix="detach the weight where the critic is fitted",
        )  # fmt: skip

    def _verdict_of_pair(self, contribution: Contribution, found: MixedPair) -> Verdict:
        history, pair = self.history, found.pair
        step = next((c.site for c in contribution.consumed if c.pids & found.pids), contribution.site)
        live = used_in(history, found.live, pair) or pair.site
        return Verdict(
            live,
            f"of two critics {line(history, pair.site)} asks one as its frozen copy and the other live: fitting "
            f"{networks(history, found.fitted)} to it also trains {networks(history, found.pids)}, and the step on "
            f"{line(history, step)} applies it",
            [("live use", live), ("pair", pair.site), ("copy", found.copy.site), ("fit", found.fit.site),
             ("backward", contribution.site), ("step", step)],
            found.pids,
            measure=lambda: share_through(history, contribution, [(pair.nid, found.live.nid)]),
            fix="ask the frozen copies of both critics",
        )  # fmt: skip

    def _verdict_of_soft_value(self, contribution: Contribution, found: SoftValue) -> Verdict:
        history, target = self.history, found.target
        step = next((c.site for c in contribution.consumed if c.pids & found.pids), contribution.site)
        return Verdict(
            target.site,
            f"{value_at(history, target.site, 'this')} is what {networks(history, found.fitted)} is fitted to and "
            f"should be a constant: that loss also trains {networks(history, found.pids)}, which has a term of its own "
            f"on {line(history, found.own.site)}, and the step on {line(history, step)} applies both",
            [("target", target.site), ("fit", found.fit.site), ("own term", found.own.site),
             ("backward", contribution.site), ("step", step)],
            found.pids,
            measure=lambda: share_through(history, contribution, from_outside(
                history, target, history.graph.live_ancestors(r.nid for r in contribution.event.roots))),
            fix="detach it: `(q - log_prob).detach()`",
        )  # fmt: skip

    def _verdict_of_dual(self, contribution: Contribution, found: DualTerm) -> Verdict:
        history, product = self.history, found.product
        step = next((c.site for c in contribution.consumed if c.pids & found.pids), contribution.site)
        return Verdict(
            product.site,
            f"this is the loss of {networks(history, found.own)}, and what it weighs should be a constant here: "
            f"gradient also flows into {networks(history, found.pids)}, which has its own term on "
            f"{line(history, found.beside.site)}, and the step on {line(history, step)} applies both",
            [("live use", product.site), ("own term", found.beside.site), ("backward", contribution.site),
             ("step", step)],
            found.pids,
            measure=lambda: share_through(history, contribution, [(product.nid, found.value.nid)]),
            fix="detach it here: `log_alpha * (log_prob + target_entropy).detach()`",
        )  # fmt: skip

    def _verdict_of_half(self, contribution: Contribution, found: HalfParted) -> Verdict:
        history, term, cut = self.history, found.term, found.cut
        live = history.graph.live_ancestors(r.nid for r in contribution.event.roots)
        step = next((c.site for c in contribution.consumed if c.pids & found.shared), contribution.site)
        culprit = used_in(history, found.use, term) or term.site
        return Verdict(
            culprit,
            f"in the summed loss the term of {line(history, term.site)} also trains {networks(history, found.shared)} "
            f"from here, which belongs to another optimizer and its loss: {line(history, cut.site)} detaches it for "
            f"this term, but gradient also flows past that, and the step on {line(history, step)} applies both",
            [("live use", culprit), ("detached", cut.site), ("term", term.site), ("backward", contribution.site),
             ("step", step)],
            found.shared,
            measure=lambda: share_through(history, contribution, from_outside(history, term, live)),
            fix="detach here, too, what the other network has made",
        )  # fmt: skip

    def _exploited(
        self, term: flow.Term, live: list[flow.Term], reach: dict[ValueId, set[ParamId]]
    ) -> set[ParamId]:
        """Parameters that this term uses as a fixed objective while another term trains them."""
        graph, mine = self.history.graph, reach[term.op.nid]
        for other in live:
            shared = mine & reach[other.op.nid]
            beyond = mine - reach[other.op.nid]
            if other is term or not shared or not beyond or reach[other.op.nid] - mine:
                continue
            if graph.is_hidden([term.op.nid, other.op.nid]):
                continue
            within = graph.live_ancestors([term.op.nid])
            users = {o.nid for o in flow.param_users(graph, within, shared)}
            through = flow.is_upstream(graph, beyond, shared, within)
            if through and flow.is_linear_in(graph, term.op, users):
                return shared
        return set()

    def _verdict_of_sum(
        self,
        contribution: Contribution,
        term: flow.Term,
        others: list[ValueId],
        critic: set[ParamId],
        step: Site,
    ) -> Verdict:
        history = self.history
        live = history.graph.live_ancestors(r.nid for r in contribution.event.roots)
        use = self._first_use([term.op.nid], others, critic)
        whole = self._reduced(term.op, live)
        culprit = (used_in(history, use, whole) if use is not None else term.op.site) or term.op.site
        return Verdict(
            culprit,
            f"in the summed loss the term of {line(history, term.op.site)} uses {networks(history, critic)} as its "
            f"objective and trains it at the same time: the step on {line(history, step)} applies both",
            [("term", term.op.site), ("backward", contribution.site), ("step", step)],
            critic,
            measure=lambda: share_through(history, contribution, from_outside(history, term.op, live)),
        )

    def _reduced(self, op: Op, within: dict[ValueId, Op]) -> Op:
        """Where a term becomes one number: the expression that a person would call the loss."""
        while op.shape and (
            users := [u for u in self.history.graph.consumers.get(op.nid, ()) if u in within]
        ):
            op = within[users[0]]
        return op

    def _verdict(
        self, step: Site, foreign: Contribution, own: list[Contribution], pids: set[ParamId]
    ) -> Verdict:
        history = self.history
        kept = {site for pid in pids if (site := history.hand.kept_at.get(pid))}
        if len(kept) == 1:
            return Verdict(
                (where := kept.pop()),
                f"this keeps the gradient of {networks(history, pids)} by name, not as a copy, and the backward on "
                f"{line(history, foreign.site)} adds to that very tensor: putting it back takes nothing away again, "
                f"and the step on {line(history, step)} applies both",
                [("kept by reference", where), ("other backward", foreign.site),
                 *(("own backward", c.site) for c in own), ("step", step)],
                pids,
                measure=lambda: self._effect(foreign, own, pids),
                fix="keep a copy: `p.grad.clone()`",
            )  # fmt: skip
        use = self._live_use(foreign, own, pids)
        return Verdict(
            use,
            f"the backward on {line(history, foreign.site)} also leaves gradient in {networks(history, pids)}, and the "
            f"step on {line(history, step)} applies it; that loss belongs to another optimizer",
            [("live use", use), ("other backward", foreign.site), *(("own backward", c.site) for c in own),
             ("step", step)],
            pids,
            measure=lambda: self._effect(foreign, own, pids),
        )  # fmt: skip

    def _effect(self, foreign: Contribution, own: list[Contribution], pids: set[ParamId]) -> Effect:
        """Which came first is told by who found something there."""
        found = share_added(self.history, foreign, pids, by_this=True)
        return (
            share_added(self.history, own[-1], pids, by_this=False) if found.not_measured and own else found
        )

    def _live_use(self, foreign: Contribution, own: list[Contribution], pids: set[ParamId]) -> Site:
        """The line of the other loss that brings these parameters in; its backward where nobody traced it."""
        history, known = self.history, self._uses.get(foreign.site)
        roots, others = ([r.nid for c in cs for r in c.event.roots] for cs in ([foreign], own))
        use, root = self._first_use(roots, others, pids), history.graph.get(roots[0]) if roots else None
        rightly = flow.param_users(history.graph, history.graph.live_ancestors(others), pids)
        if use is None or root is None or (known and not rightly):
            return known or foreign.site
        site = apart_from(history, use, rightly) or used_in(history, use, root) or foreign.site
        self._uses[foreign.site] = site
        return site

    def _first_use(self, roots: list[ValueId], others: list[ValueId], pids: set[ParamId]) -> Op | None:
        """The first operation behind `roots` alone that takes in these parameters, or what both make of them."""
        graph = self.history.graph
        theirs, shared = graph.live_ancestors(roots), graph.live_ancestors(others)
        for nid in sorted(theirs.keys() - shared.keys()):
            op = theirs[nid]
            for source in graph.inputs(op):
                common = source.nid in shared and graph.live_params([source.nid])
                if op.live and (set(params_of(source)) | (common or set())) & pids:
                    return op
        return None


rule = CrossLossGradient
