"""GS201: backward on a loss that nothing differentiable leads to."""

from __future__ import annotations

from gradsan.judge.copies.aliases import frozen_by_another_name
from gradsan.judge.flow import TAKEN_OUT, culprit_of, cut_off, cuts_behind
from gradsan.judge.history import History
from gradsan.judge.lines.asked_names import asked_by_source
from gradsan.judge.lines.callers import NEW_TENSORS, cut_for, way_of
from gradsan.judge.lines.read_cuts import cut_by_source, lines_of_loss
from gradsan.judge.lines.switched_helpers import asked_without_gradients
from gradsan.judge.lines.unmarked_leaves import read_by_hand
from gradsan.judge.missing.bare_constants import bare_constant
from gradsan.judge.missing.cuts import Cut, cause
from gradsan.judge.missing.never_required import made_at, never_required, untrained
from gradsan.judge.missing.standing_zeros import standing_zeros
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
        teaches = any(history.owner_of(pid) for pid in event.fed)
        if teaches:
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
        begun = [] if event.error or revived or asked or teaches else standing_zeros(history, roots)
        if begun:
            yield from self._begun(event, roots, trained, begun)
            return
        if NO_GRAPH not in event.error and not (revived and not graph.live_params(roots)):
            return
        hack = ""
        if revived:
            how = "requires_grad=True" if made_anew else "requires_grad_(True)"
            hack = f"; `{how}` on {line(history, graph.ops[revived[0]].site)} only hides it"
        yield from self._explained(event, roots, trained, hack)

    def _explained(self, event: Backward, roots: list[ValueId], trained: set[ParamId], hack: str) -> Verdicts:
        """Why nothing leads to this loss; `hack` says what hides it, if anything does."""
        history = self.history
        cuts = self.history.cuts
        # What has learnt from other losses may be cut from this one by right.
        cut = (
            cuts.in_prediction(roots, trained - history.ever_fed)
            or self._left(event, trained - history.ever_fed)
            or cuts.in_prediction(roots, trained)
        )
        left_out = untrained(history, roots, self._is_traced(roots))
        frozen = left_out or self._frozen(roots)
        if not event.error and cut is None and not frozen:
            yield from self._leaf_loss(event, roots, trained, hack)
            return  # no parameter stands behind the new leaf: somebody wants the gradient of an input
        if cut is not None and cut.op.facts.grad_off in history.dead_checkpoints:
            return  # GS210 tells it
        by_right = cut is not None and (cut.pids <= history.ever_fed or self._leads_on(roots, left_out))
        name, made = read_by_hand(history, event) if by_right and not frozen else ("", NOWHERE)
        if made:
            yield self._never_marked(event, f"`{name}`, whose `.grad` is read,", made)
            return
        if cut is not None and not (left_out and by_right):
            yield self._cut_away(event, roots, cut, hack)
        elif frozen and frozen_by_another_name(history, frozen):
            return  # GS306 tells it
        elif frozen:
            yield self._frozen_away(event, frozen)
        else:
            yield from self._left_alone(event, roots, hack)

    def _cut_away(self, event: Backward, roots: list[ValueId], cut: Cut, hack: str) -> Verdict:
        """Something that is trained leads to the loss, but for this cut."""
        history, graph = self.history, self.history.graph
        others = [("cut", culprit_of(op)) for op, _ in cuts_behind(graph, roots).values()]
        # Off until now: whatever switched gradients off and on again in between, this one lasted.
        lasting = event.facts.gradients_off if "no_grad" in cut.op.tags else NOWHERE
        asked = asked_without_gradients(history, cut.op, {cut.op.nid}, event.bid)
        return Verdict(
            lasting or asked or cut_for(history, cut.op),
            f"the loss no longer depends on {networks(history, cut.pids)}: {cause(history, cut)}{hack}",
            [("cut", culprit_of(cut.op)), *others, ("backward", event.site)],
            cut.pids,
            explains=cut.pids,
        )

    def _frozen_away(self, event: Backward, frozen: list[ParamId]) -> Verdict:
        """All that leads to the loss requires no gradient."""
        history = self.history
        where = made_at(history, frozen[0])
        message = f"the loss is made of {networks(history, frozen)} only, and that has requires_grad=False"
        never = never_required(history, frozen[0])
        role, fix = ("made", "make it with `requires_grad=True`") if never else ("freeze", "")
        return Verdict(
            where or event.site, message, [(role, where), ("backward", event.site)], frozen, fix=fix
        )

    def _left_alone(self, event: Backward, roots: list[ValueId], hack: str) -> Verdicts:
        """No parameter leads to the loss, as far as was seen: what else may have kept them away."""
        history, graph = self.history, self.history.graph
        sites = [("backward", event.site)]
        if off := event.facts.gradients_off:
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

    def _begun(
        self, event: Backward, roots: list[ValueId], trained: set[ParamId], begun: list[Op]
    ) -> Verdicts:
        """Nothing but numbers was added to what the loss began with; on this line, never anything else."""
        if not self._never_has_a_graph(event):
            return
        history = self.history
        # On a line of the loss: what else is a constant there may be one by right.
        cut = self._left(event, trained) or history.cuts.in_prediction(roots, trained)
        if cut is None or cut.choice:
            return
        where = cut_for(history, cut.op)
        made = line(history, begun[0].site or self._leaf_made(begun[0]))
        yield Verdict(
            where,
            f"the loss no longer depends on {networks(history, cut.pids)}: {cause(history, cut)}; "
            f"`requires_grad=True` on {made} only hides it",
            [("cut", where), ("backward", event.site)],
            cut.pids,
            explains=cut.pids,
        )

    def _leaf_made(self, op: Op) -> Site:
        return self.history.params[op.facts.pid].created if op.kind == "parameter" else NOWHERE

    def _never_has_a_graph(self, event: Backward) -> bool:
        """Whether the losses of this line have been numbers several times, and nothing else before."""
        times = self._leaves[event.site] = self._leaves.get(event.site, 0) + 1
        return times >= SEVERAL and event.site not in self._with_graph

    def _is_made_anew(self, nid: ValueId) -> bool:
        """`torch.tensor(total, requires_grad=True)`: a leaf, made of a number."""
        op = self.history.graph.ops[nid]
        return op.name in NEW_TENSORS and op.live and not any(i.live for i in self.history.graph.inputs(op))

    def _left(self, event: Backward, pids: set[ParamId]) -> Cut | None:
        """What left torch on a line that the loss was put together on, or in what such a line calls, and came back as a
        number like any other."""
        lines = lines_of_loss(self.history, event) if pids else set()
        for op in reversed(self._departures()):
            lost = self.history.graph.value_params([op.nid]) & pids
            way = (self.history.sites.get(site) for site in way_of(self.history, op))
            if lost and any(seen is not None and (seen.file, seen.line) in lines for seen in way):
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
            if not (op.name == "float" and op.shape)  # `x.float()`, a tensor still
        ]

    def _is_revived(self, nid: ValueId) -> bool:
        op = self.history.graph.ops[nid]
        return op.name == "requires_grad_" and not any(i.live for i in self.history.graph.inputs(op))

    def _frozen(self, roots: list[ValueId]) -> list[ParamId]:
        pids = self.history.graph.value_params(roots)
        return [p for p in sorted(pids) if not self.history.params[p].requires_grad]


rule = LossWithoutGraph
