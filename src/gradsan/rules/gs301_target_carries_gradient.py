"""GS301: the bootstrap target is differentiated through."""

from __future__ import annotations

from gradsan.judge.effect import Way, from_outside, share_through
from gradsan.judge.flow import ADDED_AT, SELECTING, SHAPING, Term, behind_all
from gradsan.judge.leaks.live_targets import is_climbed, modelled, policy_weight
from gradsan.judge.leaks.meant_constant import meant_constant
from gradsan.judge.leaks.target_sides import is_log_softmax, live_target, own_pass, plain_rewards
from gradsan.judge.ledger import Contribution
from gradsan.judge.lines.callers import handed_in, used_in
from gradsan.judge.report.wording import line, networks, value_at
from gradsan.judge.residuals import Residual, residuals
from gradsan.record.events import Backward, Failed, Op, ParamId, Site, ValueId
from gradsan.record.torch_errors import kind_of
from gradsan.rules.base import Rule, Verdict, Verdicts

# What lays probabilities on other places than where they were.
ADDING = {"add", "sub", "rsub"} | ADDED_AT
MOVING = {"scatter_add", "index_add", "scatter", "matmul", "bmm", "einsum", "index_put"}


class TargetCarriesGradient(Rule):
    code = "GS301"
    name = "target-carries-gradient"
    severity = "error"
    needs_deep = True
    what = """
        The bootstrap target (reward + discount × value of the next state, an n-step or λ-return) should be a constant.
        Here gradient flows through it into a network, and an optimizer applies that gradient: the loss does not only
        move the prediction towards the target, it also moves the target towards the prediction.
    """
    why = """
        Temporal-difference learning treats the target as a constant. With the gradient through both
        sides the update is that of the squared Bellman residual: the value of the next state is pulled
        towards that of the present one, against the direction in which reward propagates. Learning is
        slow or settles on the wrong values, and nothing raises.
    """
    symptom = """
        The TD loss falls nicely, often better than in a correct run, while the return rises slowly or
        not at all.
    """
    fix = "compute the target under `with torch.no_grad():`, or `.detach()` it before the loss"
    deliberate = """
        Residual-gradient and gradient-TD algorithms, and meta-gradients through a return, differentiate
        the target on purpose: say so with `# gradsan: allow target-carries-gradient` on the line.
    """
    bad = (
        """
        import torch
        q = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(q.parameters(), lr=0.1)
        for _ in range(5):
            s, a, r, s2 = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8), torch.randn(8, 3)
            next_q = q(s2).max(1).values
            target = r + 0.99 * next_q  # BUG
            loss = torch.nn.functional.smooth_l1_loss(q(s).gather(1, a).squeeze(1), target)
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        v = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(v.parameters(), lr=0.1)
        for _ in range(5):
            s, r, s2, done = torch.randn(8, 3), torch.randn(8, 1), torch.randn(8, 3), torch.zeros(8, 1)
            td = r + 0.99 * (1 - done) * v(s2) - v(s)  # BUG
            loss = td.pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        v = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(v.parameters(), lr=0.1)
        for _ in range(5):
            states, rewards = torch.randn(6, 3), torch.randn(5)
            values = v(states).squeeze(-1)
            ret, returns = values[-1], []
            for t in reversed(range(5)):
                ret = rewards[t] + 0.9 * ret  # BUG
                returns.insert(0, ret)
            loss = (values[:-1] - torch.stack(returns)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        q = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(q.parameters(), lr=0.1)
        for _ in range(5):
            s, a, r, s2 = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8), torch.randn(8, 3)
            with torch.no_grad():
                target = r + 0.99 * q(s2).max(1).values
            loss = torch.nn.functional.smooth_l1_loss(q(s).gather(1, a).squeeze(1), target)
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        v = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(v.parameters(), lr=0.1)
        for _ in range(5):
            s, r, s2 = torch.randn(8, 3), torch.randn(8, 1), torch.randn(8, 3)
            td = r + 0.99 * v(s2) - v(s)  # gradsan: allow target-carries-gradient
            loss = td.pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        phi, model = torch.nn.Linear(3, 4), torch.nn.Linear(6, 4)
        opt = torch.optim.SGD([*phi.parameters(), *model.parameters()], lr=0.1)
        for _ in range(5):
            s, a, s2 = torch.randn(8, 3), torch.randn(8, 2), torch.randn(8, 3)
            predicted = model(torch.cat([phi(s), a], -1))
            loss = torch.nn.functional.mse_loss(predicted, phi(s2))
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def on_backward(self, event: Backward) -> Verdicts:
        """It failed because of a step in between; through the target, it may have needed what was stepped."""
        if event.error and kind_of(event.error) == "saved-tensor-changed":
            waiting = {pid for pid in event.reached if self.history.can_be_stepped(pid)}
            yield from self._judge(Contribution(event, self.history.iteration), waiting)

    def on_failed(self, event: Failed) -> Verdicts:
        graph = self.history.graph
        if meant_constant(graph, event) == "target":
            pids = graph.live_params([event.value])
            yield Verdict(
                event.site,
                f"{value_at(self.history, event.site, 'the target')} is to be a constant, but `requires_grad` of a "
                f"result cannot be switched off: gradient flows through it into {networks(self.history, pids)}",
                [("target", event.site)],
                pids,
            )

    def on_settled(self, contribution: Contribution) -> Verdicts:
        yield from self._judge(contribution, contribution.consumed_pids())

    def _judge(self, contribution: Contribution, consumed: set[ParamId]) -> Verdicts:
        if not consumed:
            return
        roots = [root.nid for root in contribution.event.roots]
        for residual in residuals(self.history.graph, roots):
            target = live_target(self.history.graph, residual, consumed)
            if target and not self.history.graph.is_hidden(t.op.nid for t in residual.live()):
                graph = self.history.graph
                data = (
                    residual.data() or plain_rewards(graph, residual) or modelled(graph, residual, consumed)
                )
                yield self._verdict(residual, data, target, contribution)
        yield from self._projected(contribution, roots, consumed)

    def _projected(
        self, contribution: Contribution, roots: list[ValueId], consumed: set[ParamId]
    ) -> Verdicts:
        """A distributional target: probabilities of one forward pass, moved by the reward, times the
        log-probabilities of another."""
        history, graph = self.history, self.history.graph
        for op in graph.named(graph.live_ancestors(roots), ("mul", "cross_entropy", "kl_div")):
            for score, weight in self._scored(op):
                made = self._distribution(weight)
                if made is None:
                    continue
                pids = graph.live_params([weight.nid]) & graph.live_params([score.nid]) & consumed
                known = not graph.is_hidden([weight.nid, score.nid])
                if pids and known and own_pass(graph, weight, score):
                    yield Verdict(
                        made.site,
                        f"{value_at(history, made.site, 'this distribution')} is the target on "
                        f"{line(history, op.site)} and should be a constant, but gradient flows through it: the loss "
                        f"trains {networks(history, pids)} through the target, too",
                        [("target", made.site), ("loss", op.site), ("backward", contribution.site)],
                        pids,
                    )

    def _scored(self, op: Op) -> list[tuple[Op, Op]]:
        """Log-probabilities and what they are weighed with, both live."""
        sides = [i for i in self.history.graph.inputs(op) if i.live]
        if len(sides) != 2:
            return []
        if op.name in ("cross_entropy", "kl_div"):
            return [(sides[0], sides[1])]
        both = [(sides[0], sides[1]), (sides[1], sides[0])] if op.name == "mul" else []
        return [(score, weight) for score, weight in both if self._is_log_of_probabilities(score)]

    def _is_log_of_probabilities(self, op: Op) -> bool:
        behind = behind_all(self.history.graph, op, SHAPING | SELECTING)
        if behind is None or behind.name != "log":
            return is_log_softmax(self.history.graph, behind)
        probabilities = behind_all(self.history.graph, behind, SHAPING | SELECTING | {"log", "add", "clamp"})
        return probabilities is not None and probabilities.name == "softmax"

    def _distribution(self, weight: Op) -> Op | None:
        """The softmax behind a weight that data (a reward, a support) has moved since."""
        live = self.history.graph.live_ancestors([weight.nid]).values()
        made = next((op for op in live if op.name in ("softmax", "exp")), None)
        if made is None:
            return None
        later = [op for op in live if op.nid > made.nid]
        weighed = [op.nid for op in later if op.name == "mul" and self._has_data(op)]
        moved = any(
            op.name in MOVING or (op.name == "sum" and op.nid > min(weighed, default=op.nid)) for op in later
        )
        return made if moved else None

    def _has_data(self, op: Op) -> bool:
        return any(not i.live and i.shape for i in self.history.graph.inputs(op))

    def _ways(self, target: list[Term], contribution: Contribution) -> list[Way]:
        within = self.history.graph.live_ancestors(root.nid for root in contribution.event.roots)
        return [way for term in target for way in from_outside(self.history, term.op, within)]

    def _verdict(
        self, residual: Residual, data: list[Term], target: list[Term], contribution: Contribution
    ) -> Verdict:
        history = self.history
        pids = history.graph.live_params([t.op.nid for t in target])
        pids = pids & contribution.consumed_pids() or pids
        rewards = [d for d in data if d.sign == target[0].sign] or data[:1]
        where = self._joins(residual, target, rewards)
        culprit = self._culprit(residual, target, where)
        named = where.site if culprit == residual.op.site else culprit
        weighs = named != where.site and policy_weight(history.graph, target) is not None
        return Verdict(
            culprit,
            f"{value_at(history, named, 'this')} is {'part of ' * weighs}a bootstrap target and should be a "
            f"constant, but gradient flows through it: the loss on {line(history, contribution.site)} trains "
            f"{networks(history, pids)} through the target, too",
            [("value", target[0].op.site), ("target", where.site), ("loss", residual.op.site),
             ("backward", contribution.site)],
            pids,
            measure=lambda: share_through(history, contribution, self._ways(target, contribution)),
        )  # fmt: skip

    def _culprit(self, residual: Residual, target: list[Term], where: Op) -> Site:
        """The target's expression; the weight in it, where only that is live; the loss, where the very same value
        has to be live for another one."""
        weight = policy_weight(self.history.graph, target)
        if weight is not None and (asked := used_in(self.history, weight, where)):
            return asked
        if is_climbed(self.history, where, residual.op):
            return residual.op.site
        return handed_in(self.history, where, target[0].op, lambda op: self._is_right(op, residual))

    def _is_right(self, other: Op, residual: Residual) -> bool:
        """Whether the same line serves another caller by right: a target that is a constant, or a return that an actor
        climbs."""
        return not other.live or is_climbed(self.history, other, residual.op)

    def _joins(self, residual: Residual, target: list[Term], rewards: list[Term]) -> Op:
        """The operation that adds reward and bootstrapped value: the first value made of both, at any of the steps."""
        graph = self.history.graph
        values, data = {t.op.nid for t in target}, {t.op.nid for t in rewards}
        best = residual.op
        for op in graph.live_ancestors([residual.op.nid]).values():
            if op.name in ADDING and op.nid < best.nid and op.site:
                inside = graph.ancestors([op.nid]).keys()
                if not values.isdisjoint(inside) and not data.isdisjoint(inside):
                    best = op
        return best


rule = TargetCarriesGradient
