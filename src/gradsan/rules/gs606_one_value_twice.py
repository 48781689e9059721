"""GS606: the smaller of two estimates is taken of one estimate and itself, or one is fitted twice."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.flow import SHAPING, param_users, terms
from gradsan.judge.lines.asked_twice import asked_again_at
from gradsan.judge.lines.callers import used_in
from gradsan.judge.numbering import value_numbers
from gradsan.judge.report.wording import line, networks, value_at
from gradsan.record.events import Backward, Op, ParamId, Site
from gradsan.rules.base import Rule, Verdict, Verdicts

BOUNDS = {"min", "minimum", "fmin", "amin", "max", "maximum", "fmax", "amax"}
JOINS = {"stack", "cat"}


class OneValueTwice(Rule):
    code = "GS606"
    name = "one-value-twice"
    severity = "error"
    needs_deep = True
    what = """
        A minimum (or maximum) over several estimates takes the same network at the same inputs every time, while
        another network of the same form, trained beside it, has no part in it. Or a loss holds the same error of one
        network twice, and none of the other.
    """
    why = """
        Clipped double Q-learning takes the smaller of two critics because each errs by itself. The smaller of a critic
        and itself is that critic: the target overestimates as if there were one, and the second is trained for
        nothing. Every shape fits, so nothing raises.
    """
    symptom = (
        "Values grow too large, as without a second critic; the second critic's loss falls all the same."
    )
    fix = "take the other network in one of the places: `torch.min(q1(x), q2(x))`"
    deliberate = """
        One critic under two names, where there is no other, is not reported; nor is one with dropout, which gives
        another value every time.
    """
    bad = (
        """
        import torch
        q1, q2 = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
        opt = torch.optim.SGD([*q1.parameters(), *q2.parameters()], lr=0.01)
        for _ in range(4):
            s, s2, r = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8, 1)
            with torch.no_grad():
                target = r + 0.9 * torch.min(q1(s2), q1(s2))  # BUG
            loss = (q1(s) - target).pow(2).mean() + (q2(s) - target).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # The second critic is in the optimizer, in the target and in the actor's loss, and never fitted.
        import torch
        q1, q2, pi = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1), torch.nn.Linear(4, 4)
        opt = torch.optim.SGD([*q1.parameters(), *q2.parameters()], lr=0.01)
        pi_opt = torch.optim.SGD(pi.parameters(), lr=0.01)
        for _ in range(4):
            s, s2, r = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8, 1)
            with torch.no_grad():
                target = r + 0.9 * torch.min(q1(s2), q2(s2))
            first, second = q1(s), q1(s)  # BUG
            loss = (first - target).pow(2).mean() + (second - target).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            pi_opt.zero_grad()
            (-torch.min(q1(pi(s)), q2(pi(s))).mean()).backward()
            pi_opt.step()
        """,
    )
    good = (
        """
        import torch
        q1, q2 = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
        opt = torch.optim.SGD([*q1.parameters(), *q2.parameters()], lr=0.01)
        for _ in range(4):
            s, s2, r = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8, 1)
            with torch.no_grad():
                target = r + 0.9 * torch.min(q1(s2), q2(s2))
            loss = (q1(s) - target).pow(2).mean() + (q2(s) - target).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Two passes with dropout, which differ; and two errors of one network against two targets.
        import torch
        q1, q2 = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
        drop = torch.nn.Dropout(0.5)
        opt = torch.optim.SGD([*q1.parameters(), *q2.parameters()], lr=0.01)
        for _ in range(4):
            s, r = torch.randn(8, 4), torch.randn(8, 1)
            loss = (q1(drop(s)) - r).pow(2).mean() + (q1(drop(s)) - r).pow(2).mean()
            loss = loss + (q2(s) - r).pow(2).mean() + (q2(s) - 2 * r).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        q1 = torch.nn.Linear(4, 1)  # there is no other
        opt = torch.optim.SGD(q1.parameters(), lr=0.01)
        for _ in range(4):
            s, s2, r = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8, 1)
            with torch.no_grad():
                target = r + 0.9 * torch.min(q1(s2), q1(s2))
            loss = (q1(s) - target).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def on_backward(self, event: Backward) -> Verdicts:
        yield from self._bounds(event)
        yield from self._summands(event)

    def _summands(self, event: Backward) -> Verdicts:
        """The same error twice in one loss, and a network beside that gets nothing from it."""
        history, graph = self.history, self.history.graph
        numbers = value_numbers(graph, history.param_nodes)
        for root in (op for r in event.roots if (op := graph.get(r.nid)) is not None):
            first: dict[int, Op] = {}
            for term in sorted(terms(graph, root, limit=60), key=lambda term: term.op.nid):
                if not term.op.live or first.setdefault(numbers.of(term.op), term.op) is term.op:
                    continue
                again = [term.op, first[numbers.of(term.op)]]
                own = self._asked(again)
                left_out = self._left_out(own) if own else []
                if left_out and not set(left_out) & set(event.fed):
                    yield self._fitted_twice(event, root, again, own, left_out)

    def _fitted_twice(
        self, event: Backward, root: Op, again: list[Op], own: set[ParamId], left_out: list[ParamId]
    ) -> Verdict:
        history, graph = self.history, self.history.graph
        after, before = (graph.live_ancestors([op.nid]) for op in again)
        uses = param_users(graph, after, own), param_users(graph, before, own)
        use = min((op for op in uses[0] if op.nid not in before), default=again[0])
        first = min((op for op in uses[1] if op.nid not in after), default=use)
        site = asked_again_at(history, first, use, root)
        return Verdict(
            site,
            f"{networks(history, own)} is asked twice at the same inputs, and {line(history, root.site)} adds up the "
            f"same error twice; {networks(history, left_out)}, which has the same form, gets nothing from it",
            [("estimates", site), ("loss", root.site), ("backward", event.site)],
            left_out,
            explains=left_out,
        )

    def _bounds(self, event: Backward) -> Verdicts:
        history, graph = self.history, self.history.graph
        within = graph.ancestors(root.nid for root in event.roots)
        numbers = value_numbers(graph, history.param_nodes)
        for op in graph.named(within, BOUNDS):
            sides = self._sides(op)
            if len(sides) < 2 or len({numbers.of(side) for side in sides}) > 1:
                continue
            own = self._asked(sides)
            if own and (left_out := self._left_out(own)):
                yield Verdict(
                    self._asked_last(sides, own, op),
                    f"{value_at(history, op.site, f'this `{op.name}`')} takes {networks(history, own)} "
                    f"{'twice' if len(sides) == 2 else f'{len(sides)} times'} at the same inputs; "
                    f"{networks(history, left_out)}, which has the same form, has no part in it "
                    f"(on the way to {line(history, event.site)})",
                    [
                        ("estimates", op.site),
                        *(("estimate", used_in(history, side, op)) for side in sides),
                        ("backward", event.site),
                    ],
                    left_out,
                )

    def _asked_last(self, sides: list[Op], own: set[ParamId], op: Op) -> Site:
        """The call that should have been the other network's; of two that are alike, the second."""
        graph = self.history.graph
        after, before = (graph.ancestors([side.nid]) for side in (sides[-1], sides[0]))
        uses = param_users(graph, after, own), param_users(graph, before, own)
        use = min((user for user in uses[0] if user.nid not in before), default=op)
        first = min((user for user in uses[1] if user.nid not in after), default=use)
        return asked_again_at(self.history, first, use, op)

    def _sides(self, op: Op) -> list[Op]:
        """What is compared: two values, or those that were put side by side."""
        graph = self.history.graph
        inputs = [source for source in graph.inputs(op) if source.floating]
        while len(inputs) == 1 and inputs[0].name in SHAPING:
            inputs = list(graph.inputs(inputs[0]))
        if len(inputs) == 1 and inputs[0].name in JOINS:
            inputs = list(graph.inputs(inputs[0]))
        return inputs

    def _asked(self, sides: list[Op]) -> set[ParamId]:
        """The network that was asked each time anew; what made its inputs was asked once."""
        graph, nodes = self.history.graph, self.history.param_nodes
        first, second = (graph.ancestors([side.nid]) for side in sides[:2])
        alone = [op for nid, op in first.items() if nid not in second]
        if not alone:
            return graph.value_params([sides[0].nid])
        return {nodes[nid][0] for op in alone for nid in (op.nid, *op.inputs) if nid in nodes}

    def _left_out(self, own: set[ParamId]) -> list[ParamId]:
        """A network of the same form beside the one that is asked: trained where that one is trained, or a copy like
        it, and made in the same way."""
        history = self.history
        shapes = [history.params[pid].shape for pid in sorted(own)]
        for group in self._alike(own):
            if [history.params[pid].shape for pid in group] == shapes:
                return group
        return []

    def _alike(self, own: set[ParamId]) -> Iterator[list[ParamId]]:
        """Runs of consecutive parameters, as many as asked, that share nothing with them and are no copies of them."""
        history, size = self.history, len(own)
        trained = all(history.owner_of(pid) for pid in own)
        copied = {c.source for pid in own if (c := history.networks.copies.get(pid)) is not None}
        others = [pid for pid in sorted(history.params) if pid not in own and pid not in copied]
        for start in range(len(others) - size + 1):
            group = others[start : start + size]
            alike = all(bool(history.owner_of(pid)) == trained for pid in group)
            sources = {c.source for pid in group if (c := history.networks.copies.get(pid)) is not None}
            if alike and group[-1] - group[0] == size - 1 and not sources & (own | copied):
                yield group


rule = OneValueTwice
