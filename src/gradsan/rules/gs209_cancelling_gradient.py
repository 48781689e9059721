"""GS209: paths to the parameter exist, and cancel."""

from __future__ import annotations

from gradsan.judge import flow
from gradsan.judge.effect import from_outside, share_through
from gradsan.judge.leaks.dual_terms import dual_terms
from gradsan.judge.leaks.living_sizes import living_sizes
from gradsan.judge.leaks.own_sums import reached_only_through, shares_of_one
from gradsan.judge.leaks.own_weights import is_plain
from gradsan.judge.ledger import Contribution
from gradsan.judge.lines.callers import helpers_behind
from gradsan.judge.lines.cancelling_lines import line_of_constant
from gradsan.judge.numbering import ValueNumbers, value_numbers
from gradsan.judge.objective.ratios import compared
from gradsan.judge.objective.scores import SAME, made
from gradsan.judge.report.wording import line, networks, value_at
from gradsan.record.events import Backward, Op, ParamId, Site, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts

TURNING = {"sub", "rsub", "neg", "div"}
SUMS = {"sub", "add", "rsub", "div"}
FITS = {"mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss"}  # they subtract by themselves
TINY = 1e-7  # float32 rounding of terms of order one that should have cancelled exactly


class CancellingGradient(Rule):
    code = "GS209"
    name = "cancelling-gradient"
    severity = "error"
    needs_deep = True
    what = """
        The loss contains the same value twice with opposite signs, and gradient flows through both, so that it adds up
        to zero. Usual causes: an "old" log-probability that is not a constant, a reparameterised sample scored by its
        own log-probability, the divergence of a policy from itself with gradient through both sides, a straight-through
        estimator without its `detach`.
    """
    why = """
        Everything looks connected: `requires_grad` is True, `.grad` is there, and it is zero. The policy does not
        move, or moves by rounding noise.
    """
    symptom = """
        In every update the ratio is exactly 1, the KL divergence 0 and the clip fraction 0; the return
        does not leave the level of the initial policy.
    """
    fix = (
        "make the old side a constant: `old_log_prob = log_prob.detach()`, `action = dist.sample()`, "
        "`z + (code - z).detach()`"
    )
    deliberate = "`exp(log_prob - log_prob.detach())` is right and not reported: one side is a constant."
    bad = (
        """
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(5):
            s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
            old = torch.distributions.Categorical(logits=policy(s)).log_prob(a)  # BUG
            new = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
            loss = -((new - old).exp() * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        mean = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(mean.parameters(), lr=0.1)
        for _ in range(5):
            s, advantage = torch.randn(8, 3), torch.randn(8, 1)
            dist = torch.distributions.Normal(mean(s), 0.5)
            action = dist.rsample()  # BUG
            loss = -(dist.log_prob(action) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Another term trains the policy; what was to hold it back is zero.
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        def score(s, a):
            return policy(s).log_softmax(-1).gather(1, a)
        for _ in range(5):
            s, a, advantage = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
            new = score(s, a)
            reference = score(s, a)  # BUG
            distance = (reference - new).exp() - (reference - new) - 1
            loss = (0.1 * distance - new * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(5):
            s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
            with torch.no_grad():
                old = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
            new = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
            loss = -((new - old).exp() * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(5):
            s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
            new = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
            loss = -((new - new.detach()).exp() * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        mean, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1).requires_grad_(False)
        opt = torch.optim.SGD(mean.parameters(), lr=0.1)
        for _ in range(5):
            s = torch.randn(8, 3)
            dist = torch.distributions.Normal(mean(s), 0.5)
            action = dist.rsample()
            loss = (0.2 * dist.log_prob(action).sum(-1, keepdim=True) - critic(torch.cat([s, action], -1))).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def on_settled(self, contribution: Contribution) -> Verdicts:
        event, consumed = contribution.event, contribution.consumed_pids()
        graph = self.history.graph
        roots = [root.nid for root in event.roots]
        live = graph.live_ancestors(roots)
        numbers = value_numbers(graph, self.history.param_nodes)
        differences = _differences(live)
        yield from self._divided(event, live, consumed)
        yield from self._shares_of_one(event, live, consumed)
        tiny = {pid for pid, norm in event.facts.norms if norm < TINY}
        told: set[tuple[ValueId, ValueId]] = set()
        for op in sorted(graph.named(live, SUMS | FITS)):
            pair = self._cancelling(op, numbers) if op.nid in differences or op.name in FITS else None
            # A larger sum contains the one where they met.
            if pair is None or (pair[0].nid, pair[1].nid) in told:
                continue
            kept, twin = pair
            told.add((kept.nid, twin.nid))
            pids = graph.live_params([kept.nid])
            if pids.isdisjoint(consumed):  # it arrives with another loss, and nobody takes it
                continue
            if any(pids <= dual.pids for dual in dual_terms(self.history, contribution)):
                continue  # GS304: it should not be live in this loss at all
            site = line_of_constant(self.history, op, kept, twin, roots)
            alone = not self._escapes((kept, twin), op, live, set(roots))
            if pids and (alone or pids <= tiny):
                yield self._verdict(
                    event, op, site, pids, twin, f"the gradient of {networks(self.history, pids)} is zero"
                )
            elif pids and self._are_apart(kept, twin):
                what = f"the gradient that {networks(self.history, pids)} gets through it is always zero"
                yield self._verdict(event, op, site, pids, twin, what)
            elif pids and kept is twin and self._is_one_expression(op, live):
                what = f"no gradient comes back to {networks(self.history, pids)} through it"
                yield self._verdict(event, op, op.site, pids, twin, what)

    def _divided(self, event: Backward, live: dict[ValueId, Op], consumed: set[ParamId]) -> Verdicts:
        history = self.history
        for found in living_sizes(history.graph, live):
            pids = history.graph.live_params([found.value.nid]) & consumed
            if pids:
                size = value_at(history, found.size.site, "the size")
                yield Verdict(
                    found.size.site,
                    f"{size} is made of the very value that {line(history, found.product.site)} divides by it, and "
                    f"gradient flows through both: they cancel, and {networks(history, pids)} is not taught to make "
                    "that value larger",
                    [("should be constant", found.size.site), ("cancels", found.product.site),
                     ("backward", event.site)],
                    pids,
                    fix="take the size as a number: `alpha / q.abs().mean().detach()`",
                )  # fmt: skip

    def _shares_of_one(self, event: Backward, live: dict[ValueId, Op], consumed: set[ParamId]) -> Verdicts:
        history, roots = self.history, [root.nid for root in event.roots]
        for op, value in shares_of_one(history.graph, live):
            pids = reached_only_through(history.graph, op, value, roots) & consumed
            if pids:
                yield Verdict(
                    op.site,
                    f"{list(value.shape)} is divided by its own sum along an axis of one element: every share is one, "
                    f"whatever the value, and {networks(history, pids)} gets no gradient",
                    [("cancels", op.site), ("backward", event.site)],
                    pids,
                    fix="do not normalise what has one element, or give what makes it a loss of its own",
                )

    def _cancelling(self, op: Op, numbers: ValueNumbers) -> tuple[Op, Op] | None:
        """Two summands of one value, equal, live, of opposite sign and unscaled."""
        sides = compared(self.history.graph, op) if op.name in ("sub", "rsub", "div") else []
        whole = len(sides) == 2 and op.facts.alpha == 1 and all(side.live and side.inputs for side in sides)
        if whole and numbers.of(sides[0]) == numbers.of(sides[1]):  # however its own summands are scaled
            first, second = sorted(sides, key=lambda o: o.nid)
            return second, first
        seen: dict[int, flow.Term] = {}
        if op.name == "div":
            return self._scored_alike(op)
        for term in self._summands(op):
            if not term.op.live or term.scaled or not term.op.inputs:
                continue
            number = numbers.of(term.op)
            other = seen.get(number)
            if other is not None and other.sign == -term.sign:
                first, second = sorted((other.op, term.op), key=lambda o: o.nid)
                return second, first
            seen.setdefault(number, term)
        return self._scored_alike(op)

    def _summands(self, op: Op) -> list[flow.Term]:
        graph = self.history.graph
        if op.name not in FITS:
            return flow.terms(graph, op, limit=60, reshape=False)
        sides = list(graph.inputs(op))[:2]
        if len(sides) != 2 or sides[0].shape != sides[1].shape or sides[0] is sides[1]:
            return []  # of one tensor that is compared with itself, GS208 tells who made it so
        mine, theirs = (flow.terms(graph, side, limit=60, reshape=False) for side in sides)
        return [*mine, *(flow.Term(t.op, -t.sign, t.scaled, t.level) for t in theirs)]

    def _scored_alike(self, op: Op) -> tuple[Op, Op] | None:
        """Two live log-probabilities of the same weights, computed in different ways (a batch, and a part of it), and
        equal to the last digits."""
        graph = self.history.graph
        sides = compared(graph, op) if len(op.facts.apart) == 3 else []
        if len(sides) != 2 or not all(side.live and is_plain(graph, side) for side in sides):
            return None  # two differences from a reference are both zero at first
        low, high, _ = op.facts.apart
        same = max(abs(low), abs(high)) < SAME
        new, old = (made(graph, side) for side in sides)
        alike = graph.live_params([new.nid]) == graph.live_params([old.nid])
        return (new, old) if same and alike and new.nid != old.nid else None

    def _are_apart(self, kept: Op, twin: Op) -> bool:
        """Whether the same was computed twice, from the parameters on: nobody runs a network a second time on the same
        things, with gradients, to subtract the one from the other."""
        live = self.history.graph.live_ancestors
        return not any(
            op.kind == "operation" and op.nid in live([twin.nid]) for op in live([kept.nid]).values()
        )

    def _escapes(self, pair: tuple[Op, Op], op: Op, live: dict[ValueId, Op], roots: set[ValueId]) -> bool:
        """Whether gradient reaches these values by another way than through the cancelling sum."""
        without = {nid: o for nid, o in live.items() if nid != op.nid}
        reached = self.history.graph.descendants([p.nid for p in pair], without)
        return bool(reached & roots)

    def _is_one_expression(self, op: Op, live: dict[ValueId, Op]) -> bool:
        """`z + (code - z)`: the difference serves nothing but this sum, which then says no more than `code`. A sum
        less one of its parts is another matter: an action, less the mean that it was sampled around."""
        graph = self.history.graph
        inside = [i for i in graph.inputs(op) if i.live and i.name in flow.ADDITIVE]
        only_here = all(set(graph.consumers.get(i.nid, ())) & live.keys() == {op.nid} for i in inside)
        return only_here and [i.name for i in inside] in (["sub"], ["rsub"])

    def _verdict(
        self, event: Backward, op: Op, culprit: Site, pids: set[ParamId], twin: Op, what: str
    ) -> Verdict:
        history = self.history
        within = history.graph.live_ancestors(root.nid for root in event.roots)
        return Verdict(
            culprit,
            f"{value_at(history, culprit, 'this value')} should be a constant, but gradient flows through it as well, "
            f"and the two cancel on {line(history, op.site)}: {what}",
            [
                ("should be constant", culprit),
                *(("network asked", site) for site in helpers_behind(history, twin)),
                ("cancels", op.site),
                ("backward", event.site),
            ],
            pids,
            measure=lambda: share_through(
                history, history.ledger.recent[event.bid], from_outside(history, twin, within)
            ),
        )


def _differences(live: dict[ValueId, Op]) -> set[ValueId]:
    """The values in which something is turned round on the way: in a sum of a thousand losses nothing cancels."""
    found: set[ValueId] = set()
    for nid, op in sorted(live.items()):  # what a value is made of has a smaller number
        facts = op.facts
        turns = (
            op.name in TURNING
            or facts.alpha < 0
            or (facts.scalars and any(number < 0 for number in facts.scalars))
        )
        if turns or not found.isdisjoint(op.inputs):
            found.add(nid)
    return found


rule = CancellingGradient
