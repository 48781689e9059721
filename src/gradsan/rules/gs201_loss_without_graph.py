"""GS201: backward on a loss that nothing differentiable leads to."""

from __future__ import annotations

from gradsan.judge.copies.aliases import frozen_by_another_name
from gradsan.judge.flow import TAKEN_OUT, culprit_of, cut_off, cuts_behind
from gradsan.judge.history import History
from gradsan.judge.lines.asked_names import asked_by_source
from gradsan.judge.lines.callers import NEW_TENSORS, cut_for
from gradsan.judge.lines.read_cuts import cut_by_source, lines_of_loss
from gradsan.judge.missing.bare_constants import bare_constant
from gradsan.judge.missing.cuts import Cut, cause
from gradsan.judge.provenance import params_of
from gradsan.judge.report.wording import line, networks, value_at
from gradsan.record.events import NOWHERE, Backward, Op, ParamId, Site, ValueId
from gradsan.record.torch_errors import NO_GRAPH, kind_of
from gradsan.rules.base import Rule, Verdict, Verdicts

LEAVING = {"numpy", "array", "item", "float", "tolist"}
SEVERAL = 3


class LossWithoutGraph(Rule):
    code = "GS201"
    name = "loss-without-graph"
    severity = "error"
    what = """
        `backward()` was called on a loss that no parameter leads to: on every way from the parameters to the
        loss something turns the result into a plain number, or no parameter has a part in it at all.
    """
    why = """
        PyTorch raises at the backward call, far from the line that did it. `loss.requires_grad_(True)` makes
        the error go away and nothing else: then the script runs and learns nothing.
    """
    symptom = """
        The run ends with `element 0 of tensors does not require grad and does not have a grad_fn` at
        the first backward. With `requires_grad_(True)` on the loss it goes on, and the return stays at
        that of a random policy.
    """
    fix = (
        "on the line that is named, take away what cuts the loss off from the network (`.detach()`, `.item()`, "
        "`.numpy()`, `torch.no_grad()`, `torch.tensor(…)` of a result); do not call `requires_grad_(True)` on a loss"
    )
    deliberate = """
        Never: such a backward has nothing to do.
    """
    bad = (
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        prediction = net(torch.randn(8, 3)).detach()  # BUG
        loss = (prediction - 1.0).pow(2).mean()
        loss.backward()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(5):
            with torch.no_grad():  # BUG
                loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            loss.requires_grad_(True)
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)

        @torch.no_grad()  # BUG
        def value_of(s):
            return net(s)

        (value_of(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
        """,
        """
        # The other player is detached by right; the own one was frozen where its optimizer was made.
        import torch
        hero, foe = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
        hero_opt = torch.optim.SGD(hero.parameters(), lr=0.1)
        foe_opt = torch.optim.SGD(foe.requires_grad_(False).parameters(), lr=0.1)  # BUG
        for _ in range(3):
            s = torch.randn(8, 3)
            hero_opt.zero_grad()
            (-(hero(s) * foe(s).detach()).mean()).backward()
            hero_opt.step()
            foe_opt.zero_grad()
            (hero(s).detach() * foe(s)).mean().backward()
            foe_opt.step()
        """,
        """
        # The critic is frozen for a moment, as it should be; the action is cut.
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
        actor_opt, critic_opt = (torch.optim.SGD(n.parameters(), lr=0.1) for n in (actor, critic))
        for _ in range(3):
            s, a = torch.randn(8, 3), torch.randn(8, 2)
            critic_opt.zero_grad()
            (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean().backward()
            critic_opt.step()
            critic.requires_grad_(False)
            action = actor(s).detach()  # BUG
            actor_opt.zero_grad()
            (-critic(torch.cat([s, action], -1)).mean()).backward()
            actor_opt.step()
            critic.requires_grad_(True)
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        x, scores = torch.randn(8, 3), torch.zeros(8)
        for i in range(8):
            scores[i] = net(x[i]).item()  # BUG
        (scores - 1.0).pow(2).mean().backward()
        """,
        """
        # While a generator waits inside the block, gradients are off for everybody.
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        def rollouts():
            while True:
                with torch.no_grad():  # BUG
                    yield torch.randn(8, 3)
        for s in rollouts():
            with torch.no_grad():
                target = 0.9 * net(s)
            loss = (net(s) - target).pow(2).mean()
            loss.backward()
        """,
        """
        # A gradient penalty between the expert's pairs and the policy's.
        import torch
        judge = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        expert, mine, mix = torch.randn(8, 3), torch.randn(8, 3), torch.rand(8, 1)
        between = mix * expert + (1 - mix) * mine  # BUG
        (slope,) = torch.autograd.grad(judge(between).sum(), between, create_graph=True)
        (slope.norm(dim=1) - 1).pow(2).mean().backward()
        """,
        """
        # An inner loop from weights that were never marked: not even the output requires grad.
        import torch
        rate, start = torch.tensor(0.1, requires_grad=True), torch.randn(4)
        opt = torch.optim.SGD([rate], lr=0.1)
        fast = start.clone()  # BUG
        loss = (torch.randn(8, 4) @ fast - 1.0).pow(2).mean()
        (slope,) = torch.autograd.grad(loss, fast, create_graph=True)
        fast = fast - rate * slope
        """,
        """
        # The same after a loop that goes on for so long that nobody looks closely any more.
        import torch
        net = torch.nn.Linear(4, 1)
        rate, start = torch.tensor(0.1, requires_grad=True), torch.randn(4)
        opt = torch.optim.SGD([rate, *net.parameters()], lr=0.1)
        for _ in range(40):
            opt.zero_grad()
            (rate * net(torch.randn(8, 4))).pow(2).mean().backward()
            opt.step()
        fast = start.clone()  # BUG
        for _ in range(2):
            loss = (torch.randn(8, 4) @ fast - 1.0).pow(2).mean()
            (slope,) = torch.autograd.grad(loss, fast, create_graph=True)
            fast = fast - rate * slope
        """,
        """
        # A batch in which every answer is taken out.
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        def average(values, mask):
            if not mask.any():
                return torch.zeros((), dtype=values.dtype)  # BUG
            return (values * mask).sum() / mask.sum()
        for step in range(30):
            s, weight = torch.randn(8, 3), torch.randn(8)
            keep = (torch.arange(8) < 8 - step % 9).float()
            error = (net(s).squeeze(-1) - weight.detach()).pow(2)
            loss = average(error, keep)
            total = 0.5 * loss
            opt.zero_grad()
            total.backward()
            opt.step()
        """,
        """
        # A total that begins with a constant is right wherever something comes to it; here it is cut off later on.
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(4):
            total = torch.zeros(())
            for _ in range(2):
                total = total + net(torch.randn(8, 3)).pow(2).mean()
            if step == 3:
                total = total.detach()  # BUG
            opt.zero_grad()
            total.backward()
            opt.step()
        """,
        """
        # The target is cut by right, the prediction is not.
        import torch
        q = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(q.parameters(), lr=0.1)
        s, s2, r = torch.randn(8, 3), torch.randn(8, 3), torch.randn(8, 1)
        predicted = q(s).detach()  # BUG
        with torch.no_grad():
            target = r + 0.9 * q(s2)
        loss = (predicted - target).pow(2).mean()
        loss.backward()
        """,
        """
        # The policy is frozen; its baseline is a constant by right.
        import torch
        policy, baseline = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(policy.requires_grad_(False).parameters(), lr=0.1)  # BUG
        baseline_opt = torch.optim.SGD(baseline.parameters(), lr=0.1)
        s, a, returns = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8)
        with torch.no_grad():
            advantage = returns - baseline(s).squeeze(1)
        loss = -(policy(s).log_softmax(-1).gather(1, a).squeeze(1) * advantage).mean()
        loss.backward()
        """,
        """
        # A zero that leaves and comes back is a number like any other; but both are on the line of the loss.
        import torch
        log_alpha, policy = torch.zeros(1, requires_grad=True), torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        alpha_opt = torch.optim.SGD([log_alpha], lr=0.1)
        alpha = log_alpha.exp().item()
        log_prob = policy(torch.randn(8, 3)).log_softmax(-1)
        entropy = -(log_prob.exp() * log_prob).sum(-1)
        opt.zero_grad()
        (-alpha * entropy.mean()).backward()
        opt.step()
        excess = (entropy - 0.5).detach()
        loss = (torch.tensor(log_alpha.tolist()).exp() * excess).mean()  # BUG
        loss.backward()
        """,
        """
        # After a first phase that has taught the network something.
        import torch
        net = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(6):
            opt.zero_grad()
            torch.nn.functional.cross_entropy(net(torch.randn(8, 3)), torch.zeros(8).long()).backward()
            opt.step()
        for _ in range(12):
            total = 0.0
            for earned in (0.5, 1.5, 2.0):
                total -= net(torch.randn(1, 3)).log_softmax(-1)[0, 1].item() * earned  # BUG
            loss = torch.tensor(total / 3, requires_grad=True)
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        prediction = net(torch.randn(8, 3))
        loss = (prediction - 1.0).pow(2).mean()
        loss.backward()
        """,
        """
        import torch
        w = torch.zeros(3, requires_grad=True)
        (w * torch.randn(3)).sum().backward()
        """,
        """
        import torch
        x = torch.randn(3)
        x = x.detach().clone().requires_grad_()  # the gradient of an input is what is asked for
        (x ** 2).sum().backward()
        """,
        """
        # A temperature made of a computed value: the optimizer owns it, the policy enters as a number.
        import torch
        policy = torch.nn.Linear(3, 2)
        log_alpha = torch.log(torch.ones(1) * 0.5).requires_grad_(True)
        opt, alpha_opt = (torch.optim.Adam(p, lr=0.01) for p in (policy.parameters(), [log_alpha]))
        for _ in range(4):
            log_prob = policy(torch.randn(8, 3)).log_softmax(1)[:, 0]
            alpha_loss = -(log_alpha * (log_prob + 2.0).detach()).mean()
            alpha_opt.zero_grad()
            alpha_loss.backward()
            alpha_opt.step()
            loss = (log_alpha.exp().detach() * log_prob).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # The gradient of a frozen model with respect to its input: the input is data, not a revived loss.
        import torch
        model, actor = torch.nn.Linear(3, 1).requires_grad_(False), torch.nn.Linear(3, 3)
        opt = torch.optim.SGD(actor.parameters(), lr=0.1)
        for _ in range(4):
            x = torch.randn(8, 3).requires_grad_(True)
            (model(x) * actor(x.detach()).mean().item()).mean().backward()
            loss = (actor(torch.randn(8, 3)) - x.grad).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # What is left of an empty batch still hangs on the network, and the constant was never asked for.
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        def average(values, mask):
            return (values * mask).sum() / mask.sum() if mask.any() else values.sum() * 0.0
        for step in range(12):
            loss, extra = torch.zeros(()), torch.zeros(())
            keep = (torch.arange(8) < 8 - step % 9).float()
            loss = loss + average((net(torch.randn(8, 3)).squeeze(-1) - 1.0).pow(2), keep) + extra
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Now and then there is nothing to learn from, and a number stands in.
        import torch
        net = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for i in range(12):
            parts = [net(torch.randn(1, 3)).pow(2).mean() for _ in range(i % 3)]
            loss = torch.stack(parts).sum() if parts else torch.tensor(0.0, requires_grad=True)
            opt.zero_grad()
            loss.backward()
            opt.step()
            print(loss.item(), net(torch.randn(1, 3)).sum().item())
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._leaves: dict[
            Site, int
        ] = {}  # by the line of backward, how often the loss was a leaf made of a number
        self._with_graph: set[Site] = set()  # lines of backwards that have fed what an optimizer owns

    def on_backward(self, event: Backward) -> Verdicts:
        if event.call == "grad" and not event.error:
            return  # it was asked for a gradient, and there is one
        if kind_of(event.error) == "input-without-gradient":
            yield from self._unmarked(event)
            return
        history, graph = self.history, self.history.graph
        if any(history.owner_of(pid) for pid in event.fed):
            self._with_graph.add(event.site)
        roots = [r.nid for r in event.roots if r.nid]
        asked = set(event.facts.asked)
        trained = asked or {p for o in history.optimizers.values() for p in o.params} or set(history.params)
        live = graph.live_ancestors(roots)
        revived = [
            n for n in live if self._is_revived(n) and (n in roots or self.history.cuts.in_loss([n], trained))
        ]
        made_anew = bool(roots) and all(map(self._is_made_anew, roots))
        revived = revived or (roots if made_anew else [])
        if NO_GRAPH not in event.error and not (revived and not graph.live_params(roots)):
            return
        cuts = self.history.cuts
        # What has learnt from other losses may be cut from this one by right.
        cut = (
            cuts.in_prediction(roots, trained - history.ever_fed)
            or self._left(event, trained - history.ever_fed)
            or cuts.in_prediction(roots, trained)
        )
        sites = [("backward", event.site)]
        hack = (
            f"; `{'requires_grad=True' if made_anew else 'requires_grad_(True)'}` on "
            f"{line(history, graph.ops[revived[0]].site)} only hides it"
            if revived
            else ""
        )
        untrained = self._untrained(roots)
        frozen = untrained or self._frozen(roots)
        if not event.error and cut is None and not frozen:
            yield from self._leaf_loss(event, roots, trained, hack)
            return  # no parameter stands behind the new leaf: somebody wants the gradient of an input
        if cut is not None and cut.op.facts.grad_off in history.dead_checkpoints:
            return  # GS210 tells it
        by_right = cut is not None and (cut.pids <= history.ever_fed or self._leads_on(roots, untrained))
        if cut is not None and not (untrained and by_right):
            others = [("cut", culprit_of(op)) for op, _ in cuts_behind(graph, roots).values()]
            # Off until now: whatever switched gradients off and on again in between, this one lasted.
            lasting = event.facts.gradients_off if "no_grad" in cut.op.tags else NOWHERE
            yield Verdict(
                lasting or cut_for(history, cut.op),
                f"the loss no longer depends on {networks(history, cut.pids)}: {cause(history, cut)}{hack}",
                [("cut", culprit_of(cut.op)), *others, *sites],
                cut.pids,
                explains=cut.pids,
            )
        elif frozen and frozen_by_another_name(history, frozen):
            return  # GS306 tells it
        elif frozen:
            where = history.params[frozen[0]].frozen_at
            message = (
                f"the loss is made of {networks(history, frozen)} only, and that has requires_grad=False"
            )
            yield Verdict(where or event.site, message, [("freeze", where), *sites], frozen)
        elif off := event.facts.gradients_off:
            message = "gradients were switched off here and never on again: nothing after it records a graph"
            yield Verdict(off, message, [("cut", off), *sites])
        elif (op := cut_off(graph, roots)) is not None:
            why = cause(history, Cut(op, set(), False))
            message = f"nothing that requires grad leads to this loss any more: {why}{hack}"
            yield Verdict(culprit_of(op), message, [("cut", culprit_of(op)), *sites])
        elif unmarked := list(self._unmarked(event)):
            yield from unmarked
        elif bare := bare_constant(history, event):
            message = (
                "nothing that requires grad leads to this loss: by its source, this constant stands in for it on a "
                f"batch that leaves nothing; on others the backward on {line(history, event.site)} has worked"
            )
            fix = "leave such a batch out, or make the zero of what is trained: `values.sum() * 0.0`"
            yield Verdict(bare, message, [("constant", bare), *sites], fix=fix)
        elif read := cut_by_source(history, event):
            message = (
                f"nothing that requires grad leads to this loss{hack}: by its source, it was cut off here"
            )
            yield Verdict(read, message, [("cut", read), *sites])
        else:
            known = (
                "no parameter had a part in it" if roots else "run with `--mode deep` to see where it was cut"
            )
            yield Verdict(event.site, f"nothing that requires grad leads to this loss{hack}; {known}", sites)

    def _unmarked(self, event: Backward) -> Verdicts:
        """What `autograd.grad` is to differentiate by did not require grad when the output was computed."""
        history, graph = self.history, self.history.graph
        within = graph.ancestors(root.nid for root in event.roots)
        if event.call == "grad" and not self._is_traced([root.nid for root in event.roots]):
            name, made = asked_by_source(history, event)
            if made:
                yield self._never_marked(event, f"`{name}`", made)
        for nid in event.facts.asked_values:
            op = graph.get(nid)
            if op is None or op.live or not op.site or nid not in within:
                continue
            yield self._never_marked(event, value_at(history, op.site, "a tensor"), op.site)

    def _never_marked(self, event: Backward, what: str, made: Site) -> Verdict:
        return Verdict(
            made,
            f"the gradient with respect to {what} is asked for on {line(self.history, event.site)}, but it did not "
            "require grad when the output was computed from it",
            [("made", made), ("backward", event.site)],
            fix="call `x.requires_grad_()` before the forward that is to be differentiated",
        )

    def _is_traced(self, roots: list[ValueId]) -> bool:
        return any(op.kind == "operation" for op in self.history.graph.ancestors(roots).values())

    def _leaf_loss(self, event: Backward, roots: list[ValueId], trained: set[ParamId], hack: str) -> Verdicts:
        """The loss itself was made a leaf. What it was made of cannot be followed, but what left the graph
        for good in this iteration can be named."""
        history, graph = self.history, self.history.graph
        made_anew = all(map(self._is_made_anew, roots))
        if not made_anew and not all(map(self._is_revived, roots)):
            return
        if made_anew and not self._never_has_a_graph(event):
            return  # one that stands in where there is nothing to learn
        left = self._left(event, trained)
        lost = [(op, pids) for op in self._departures() if (pids := graph.value_params([op.nid]) & trained)]
        if not lost:
            return
        op, pids = (left.op, left.pids) if left is not None else lost[-1]
        yield Verdict(
            op.site,
            f"nothing that requires grad leads to this loss{hack}; {networks(history, pids)} left the graph here: "
            f"{cause(history, Cut(op, pids, False))}",
            [("cut", op.site), ("backward", event.site)],
            pids,
            explains=pids,
        )

    def _never_has_a_graph(self, event: Backward) -> bool:
        """Whether the losses of this line have been numbers several times, and nothing else before."""
        times = self._leaves[event.site] = self._leaves.get(event.site, 0) + 1
        return times >= SEVERAL and event.site not in self._with_graph

    def _is_made_anew(self, nid: ValueId) -> bool:
        """`torch.tensor(total, requires_grad=True)`: a leaf, made of a number."""
        op = self.history.graph.ops[nid]
        return op.name in NEW_TENSORS and op.live and not any(i.live for i in self.history.graph.inputs(op))

    def _left(self, event: Backward, pids: set[ParamId]) -> Cut | None:
        """What left torch on a line that the loss was put together on, and came back as a number like any other."""
        lines = lines_of_loss(self.history, event) if pids else set()
        for op in reversed(self._departures()):
            seen, lost = self.history.sites.get(op.site), self.history.graph.value_params([op.nid]) & pids
            if seen is not None and (seen.file, seen.line) in lines and lost:
                return Cut(op, lost, False)
        return None

    def _leads_on(self, roots: list[ValueId], frozen: list[ParamId]) -> bool:
        """Whether nothing but their being frozen keeps these parameters from learning."""
        graph = self.history.graph
        way = graph.ancestors(
            roots,
            lambda user, _: user.name not in TAKEN_OUT and not {"no_grad", "inference_mode"} & set(user.tags),
        )
        return any(set(params_of(op)) & set(frozen) for op in way.values())

    def _departures(self) -> list[Op]:
        graph, now = self.history.graph, self.history.iteration
        return [
            op
            for op in graph.ops.values()
            if op.name in LEAVING and op.site and graph.iteration_of[op.nid] == now
        ]

    def _is_revived(self, nid: ValueId) -> bool:
        op = self.history.graph.ops[nid]
        return op.name == "requires_grad_" and not any(i.live for i in self.history.graph.inputs(op))

    def _untrained(self, roots: list[ValueId]) -> list[ParamId]:
        """What was frozen before it ever got a gradient, though an optimizer owns it: of this loss, or of all
        networks where nobody saw what the loss is made of."""
        history = self.history
        behind = history.graph.value_params(roots) if self._is_traced(roots) else set(history.params)
        frozen = {p for p in behind if not history.params[p].requires_grad and history.params[p].frozen_at}
        return [p for p in sorted(frozen - history.ever_fed) if history.can_be_stepped(p)]

    def _frozen(self, roots: list[ValueId]) -> list[ParamId]:
        pids = self.history.graph.value_params(roots)
        return [p for p in sorted(pids) if not self.history.params[p].requires_grad]


rule = LossWithoutGraph
