"""GS208: a gradient that is zero step after step, because of what the loss does with it."""

from __future__ import annotations

from gradsan.judge.flow import REDUCING, SELECTING, SHAPING, behind_all, is_averaged
from gradsan.judge.history import History
from gradsan.judge.ledger import Contribution
from gradsan.judge.lines.source import backward_at
from gradsan.judge.missing.closed_masks import closed_mask
from gradsan.judge.missing.known_answers import known_answer, made_equal
from gradsan.judge.missing.limited_units import LimitedUnits
from gradsan.judge.missing.own_target import WRITES, OwnTarget, own_target
from gradsan.judge.missing.rectified_outputs import RECTIFYING, RectifiedOutputs
from gradsan.judge.missing.rounded_passes import STEPWISE, rounded_passes
from gradsan.judge.provenance import params_of
from gradsan.judge.report.wording import line, networks
from gradsan.record.events import Backward, Op, ParamId, Site, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts

STEPS = 5
SATURATED = 0.05
SQUASHED = 0.75  # of the elements: a minority of saturated units is what learning makes
PRODUCTS = {"linear", "matmul", "mm", "bmm", "addmm", "einsum", "baddbmm"}
MASKING = {"mul", "where", "masked_fill", "index_put", "setitem"}
LESS, MORE = {"lt", "le", "less", "less_equal"}, {"gt", "ge", "greater", "greater_equal"}
FLAT = {"relu", "clamp", "tanh", "sigmoid", "hardtanh", "relu6", "hardsigmoid", "threshold", "elu", "softplus",
        "leaky_relu", "hardswish", "hardshrink", "softshrink", "round", "floor", "ceil", "trunc", "sign", "sgn",
        "heaviside"}  # fmt: skip
STRAIGHT_THROUGH = (
    "leave the rounding out of what is learnt from, or pass the gradient straight through: "
    "`x + (x.round() - x).detach()`"
)


class ZeroGradient(Rule):
    code = "GS208"
    name = "zero-gradient"
    severity = "warning"
    needs_deep = True
    what = """
        A parameter's gradient is exactly zero step after step, or the gradient of a large part of every batch is. Usual
        causes: a dead ReLU, a saturated `tanh` or `clamp`, a TD error that is clamped before it is squared, a
        prediction that is rounded, a ReLU after the last layer of a policy. Or a network was given the weights of the
        one whose outputs it is to predict.
    """
    why = """
        Where the function is flat, nothing can be learned, and it stays so. Clamping the TD error before squaring
        is the famous one: it was meant to clip the gradient to ±1 and sets it to zero for exactly the samples that
        are most wrong.
    """
    symptom = """
        The part behind the flat spot does not move, to the last digit. With the clamped TD error the
        loss sits at the square of the bound, and Q-values creep towards large rewards or never get
        there.
    """
    fix = (
        "for clipped errors use `smooth_l1_loss` or `huber_loss`; for dead units a smaller step, or a leaky "
        "activation"
    )
    deliberate = (
        "PPO's clipped ratio is not reported: the unclipped term keeps its gradient, and all-clipped "
        "batches pass."
    )
    bad = (
        """
        import torch
        q = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(q.parameters(), lr=0.01)
        for _ in range(8):
            s, a, target = torch.randn(8, 3), torch.randint(2, (8, 1)), 10.0 + torch.randn(8)
            td = target - q(s).gather(1, a).squeeze(1)
            loss = td.clamp(-1, 1).pow(2).mean()  # BUG
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
        torch.nn.init.constant_(first.bias, -100.0)
        opt = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.01)
        for _ in range(8):
            h = torch.relu(first(torch.randn(8, 3)))  # BUG
            loss = (second(h) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        q = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(q.parameters(), lr=0.01)
        for _ in range(8):
            error = q(torch.randn(8, 3)).squeeze(1) - 3.0 * torch.randn(8)
            flat = torch.full_like(error, 0.5)
            loss = torch.where(error.abs() < 1, 0.5 * error.pow(2), flat).mean()  # BUG
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        # The sign is only half of it: h(x) = sign(x)·(√(|x|+1) − 1), by which large values are scaled.
        import torch
        q = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(q.parameters(), lr=0.1)
        for _ in range(8):
            x = q(torch.randn(8, 3))
            scaled = x.sign() * ((x.abs() + 1).sqrt() - 1)
            loss = (scaled - torch.randn(8, 1)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Rounded in the forward pass, passed straight through in the backward.
        import torch
        body, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
        opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
        for _ in range(8):
            x = 3 * body(torch.randn(8, 3))
            bins = x + (x.round() - x).detach()
            loss = (head(bins) - 1).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Within a tolerance an error is meant to teach nothing.
        import torch
        q = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(q.parameters(), lr=0.01)
        for _ in range(8):
            error = q(torch.randn(8, 3)).squeeze(1) - torch.randn(8)
            loss = torch.where(error.abs() > 0.8, error.pow(2), torch.zeros_like(error)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._zero: dict[int, int] = {}
        self._flat: dict[Site, int] = {}
        self._limited = LimitedUnits(history)
        self._outputs = RectifiedOutputs(history)
        self._began_squashed: dict[Site, bool] = {}
        self._squashed: dict[Site, dict[Site, int]] = {}  # by backward, then by line

    def on_backward(self, event: Backward) -> Verdicts:
        yield from self._saturated(event)
        yield from self._squashing(event)
        yield from self._beyond_a_limit(event)
        yield from self._rectified(event)
        zero = set()
        for pid, norm in event.facts.norms:
            self._zero[pid] = self._zero.get(pid, 0) + 1 if norm == 0.0 else 0
            if self._zero[pid] >= STEPS:
                zero.add(pid)
        for nid in event.facts.zeroed_by if zero else ():
            op = self.history.graph.get(nid)
            if op is not None and (predicted := known_answer(self.history, op, zero)):
                yield self._knows_it_all(event, op, zero, predicted)
            elif op is not None and (own := own_target(self.history.graph, op)):
                yield self._learns_itself(event, op, own)
            if (
                op is not None
                and op.name in MASKING
                and (closed := self._closed(event, op, zero)) is not None
            ):
                yield closed
            how = self._how(op, event, zero) if op is not None else ""
            if op is not None and how:
                message = f"the gradient of {networks(self.history, zero)} is exactly zero: {how}"
                site = self._result_of(op.facts.backward) if op.facts.backward else op.site
                sites = [("zeroing op", site), ("used", op.site), ("backward", event.site)]
                yield Verdict(site, message, sites if site != op.site else [sites[0], sites[2]], zero)

    def _knows_it_all(self, event: Backward, op: Op, zero: set[ParamId], predicted: set[ParamId]) -> Verdict:
        history = self.history
        own = history.graph.live_params([op.nid])
        site = made_equal(history, own, predicted) or op.site
        return Verdict(
            site,
            f"the gradient of {networks(history, own)} is exactly zero: it has the weights of "
            f"{networks(history, predicted)}, whose outputs it is to predict, and makes no error",
            [("made equal", site), ("zeroing op", op.site), ("backward", event.site)],
            own,
            fix="give each of the two weights of its own: load each from its own state, draw each from its own seed",
        )

    def _learns_itself(self, event: Backward, op: Op, own: OwnTarget) -> Verdict:
        history = self.history
        pids = history.graph.live_params([op.nid])
        into = "both are one tensor"
        if own.written.name in WRITES:
            into = f"both are one tensor, and what {line(history, own.written.site)} writes is in both"
        return Verdict(
            own.named.site,
            f"the gradient of {networks(history, pids)} is exactly zero: {line(history, op.site)} compares the "
            f"prediction with itself; {into}",
            [
                ("second name", own.named.site),
                ("write", own.written.site),
                ("compared", op.site),
                ("backward", event.site),
            ],
            pids,
            fix="make the target a tensor of its own before writing into it: `target = q.detach().clone()`",
        )

    def _closed(self, event: Backward, op: Op, zero: set[ParamId]) -> Verdict | None:
        history, graph = self.history, self.history.graph
        behind = graph.live_params([op.nid]) & zero
        mask = (
            closed_mask(graph, op, graph.live_ancestors(root.nid for root in event.roots)) if behind else None
        )
        if mask is None:
            return None
        return Verdict(
            mask.site,
            f"the gradient of {networks(history, behind)} is exactly zero: the mask from {line(history, mask.site)} "
            f"has let nothing pass in {STEPS} updates in a row",
            [("mask", mask.site), ("zeroing op", op.site), ("backward", event.site)],
            behind,
            fix="look at what the mask compares: is it turned round, or counted from the wrong end?",
        )

    def on_settled(self, contribution: Contribution) -> Verdicts:
        """A value that is rounded, and no other way from the loss to what it was made of."""
        history, graph = self.history, self.history.graph
        event = contribution.event
        roots = [root.nid for root in event.roots]
        rounded = [op for op in graph.live_ancestors(roots).values() if op.live and op.name in STEPWISE]
        if not rounded or event.error:
            return
        bypassing = graph.ancestors(
            roots, lambda op, source: op.live and source.live and op.name not in STEPWISE
        )
        reached = {pid for op in bypassing.values() for pid in params_of(op)}
        stepped = {pid for oid in contribution.consumers() for pid in history.optimizers[oid].params}
        told = set[Site]()
        for op in rounded if event.call == "backward" else ():
            if lost := graph.live_params([op.nid]) & stepped - reached:
                told.add(op.site)
                yield self._rounded(
                    event, op, lost, f"the gradient of {networks(history, lost)} is exactly zero"
                )
        for op, layers in rounded_passes(graph, roots):
            mine = {pid for pid in layers if history.owner_of(pid) and not history.networks.is_target(pid)}
            if mine and op.site not in told:
                yield self._rounded(
                    event, op, mine, f"nothing is learnt from this pass of {networks(history, mine)}"
                )

    def _rounded(self, event: Backward, op: Op, pids: set[ParamId], text: str) -> Verdict:
        return Verdict(
            op.site,
            f"{text}: `{op.name}` has no slope anywhere",
            [("zeroing op", op.site), ("backward", event.site)],
            pids,
            explains=pids,
            fix=STRAIGHT_THROUGH,
        )

    def _how(self, op: Op, event: Backward, zero: set[ParamId]) -> str:
        """What this operation does to all the gradient that arrives at it, where these parameters lie behind it."""
        graph = self.history.graph
        behind = graph.live_params([op.nid]) & zero
        if not behind:
            return ""
        if op.name in FLAT - STEPWISE:
            return "" if self._is_tolerance(op, event) else f"`{op.name}` is flat there"
        if "function" in op.tags:
            return f"`{op.name}.backward` gives back zeros"
        factors = [i for i in graph.inputs(op) if i.live]  # a constant factor has no gradient to lose
        if op.name in PRODUCTS and len(factors) > 1 and any(self._is_made_of(i, zero) for i in factors):
            return f"both factors of `{op.name}` are zero, and each is the other's gradient"
        if op.name in MASKING and self._is_used_again(op, event, behind):
            return f"`{op.name}` clears every row of a state that the same parameters go on with"
        return ""

    def _is_tolerance(self, op: Op, event: Backward) -> bool:
        """`kl.mean().clamp(min=free_nats)`: a limit on a whole term of the loss, an average over all samples. Beyond it
        there is nothing to learn from that term, and that is what it is for."""
        graph = self.history.graph
        source = next(graph.inputs(op), None)
        if op.shape or source is None or source.name not in REDUCING:
            return False
        return is_averaged(graph, op, graph.live_ancestors(root.nid for root in event.roots))

    def _result_of(self, backward: Site) -> Site:
        """What a custom function's own backward returns: that is to be changed."""
        where = self.history.sites.get(backward)
        source = backward_at(where.file, where.line) if where is not None else None
        if where is None or source is None:
            return backward
        return self.history.site_at(where.file, source.returns, where.function)

    def _is_made_of(self, factor: Op, pids: set[ParamId]) -> bool:
        """Of these parameters and of no others, be it by way of a transposition."""
        params = set(self.history.graph.live_params([factor.nid]))
        return bool(params) and params <= pids

    def _is_used_again(self, op: Op, event: Backward, behind: set[ParamId]) -> bool:
        """A term of the loss with a coefficient of zero, and an expert that was not chosen, are not."""
        graph = self.history.graph
        within = graph.live_ancestors(root.nid for root in event.roots)
        onward = [within[nid] for nid in graph.descendants([op.nid], within)]
        return any(set(params_of(i)) & behind for later in onward for i in graph.inputs(later))

    def _squashing(self, event: Backward) -> Verdicts:
        """A `tanh` or `sigmoid` that ends the gradient of nearly everything it is given."""
        shares: dict[Site, list[float]] = {}
        ops: dict[Site, Op] = {}
        for seen in event.facts.flat:
            op = self.history.graph.get(seen.value)
            if op is not None and op.name not in RECTIFYING:
                shares.setdefault(op.site, []).append(seen.share)
                ops[op.site] = op
        before = self._squashed.get(event.site, {})
        means = {site: sum(found) / len(found) for site, found in shares.items()}
        for site, mean in means.items():  # a network that diverges gets there, too, and for another reason
            self._began_squashed.setdefault(site, mean >= SQUASHED)
        now = {
            site: before.get(site, 0) + 1
            for site, mean in means.items()
            if mean >= SQUASHED and self._began_squashed[site]
        }
        self._squashed[event.site] = now
        for site, times in now.items():
            share = means[site]
            if times >= STEPS:
                yield Verdict(
                    site,
                    f"`{ops[site].name}` is flat for {share:.0%} of what it is given: its inputs are far too "
                    "large, and no gradient passes",
                    [("zeroing op", site), ("backward", event.site)],
                    self.history.graph.live_params([ops[site].nid]),
                    fix="scale the inputs to about ±1 (a running mean and deviation), or normalise before the "
                    "activation",
                )

    def _beyond_a_limit(self, event: Backward) -> Verdicts:
        for op in self._limited.cut_off(event):
            yield Verdict(
                op.site,
                f"`{op.name}` cuts off {op.facts.flat_units} of {op.shape[-1]} units for every sample: what is behind "
                "them gets no gradient and never comes back",
                [("zeroing op", op.site), ("backward", event.site)],
                self.history.graph.live_params([op.nid]),
            )

    def _rectified(self, event: Backward) -> Verdicts:
        for op, share, of in self._outputs.found(event):
            yield Verdict(
                op.site,
                f"`{op.name}` cuts off the {of} that actions are chosen by: {share:.0%} of their gradient ends there, "
                "and what lies below zero never comes back, whatever it earns",
                [("zeroing op", op.site), ("backward", event.site)],
                self.history.graph.live_params([op.nid]),
                fix="leave out the activation after the last layer",
            )

    def _saturated(self, event: Backward) -> Verdicts:
        graph = self.history.graph
        live = graph.live_ancestors(root.nid for root in event.roots)
        for op in live.values():
            share = op.facts.saturated
            if share < SATURATED or not (self._is_clamped_error(op, live) or self._is_dead_tail(op)):
                continue
            how = (
                "is clamped before it enters the loss"
                if op.name == "clamp"
                else "gets a constant beyond a limit"
            )
            seen = self._flat[op.site] = self._flat.get(op.site, 0) + 1
            if seen >= STEPS:
                yield Verdict(
                    op.site,
                    f"the error {how}, so {share:.0%} of the samples (the most wrong "
                    "ones) get no gradient at all",
                    [("zeroing op", op.site), ("backward", event.site)],
                    graph.live_params([op.nid]),
                )

    def _is_clamped_error(self, op: Op, live: dict[ValueId, Op]) -> bool:
        """A difference reaches the loss through this clamp and no other way. Cut off at zero, it is to count with one
        sign only (self-imitation, a hinge): that is meant."""
        graph = self.history.graph
        if op.facts.scalars == (0.0,):
            return False
        source = behind_all(graph, next(graph.inputs(op), None), SHAPING | SELECTING)
        if source is None or source.name not in ("sub", "rsub", "add"):
            return False
        onward = [n for n in graph.consumers.get(source.nid, ()) if n in live]
        return len(onward) == 1 and self._is_squared(op, live)

    def _is_dead_tail(self, op: Op) -> bool:
        """`where(error.abs() < limit, live, constant)`: large errors teach nothing. The other way round it is a
        tolerance, which is meant."""
        graph = self.history.graph
        sides = [graph.get(nid) for nid in op.inputs]
        condition = next((s for s in sides if s is not None and not s.floating), None)
        if op.name != "where" or condition is None or condition.name not in LESS | MORE:
            return False
        compared = next(graph.inputs(condition), None)
        source = (
            next(graph.inputs(compared), None) if compared is not None and compared.name == "abs" else None
        )
        if source is None or source.name not in ("sub", "rsub", "add") or not source.live:
            return False
        branches = [s for s in sides if s is not None and s.floating]
        # Which side a plain number stands on is not recorded.
        return len(branches) == 2 and branches[0].live == (condition.name in LESS)

    def _is_squared(self, op: Op, live: dict[ValueId, Op]) -> bool:
        graph = self.history.graph
        users = [live[n] for n in graph.consumers.get(op.nid, ()) if n in live]
        return any(
            u.name in ("pow", "abs", "mse_loss")
            or (u.name == "mul" and len(set(u.inputs)) == 1)
            or self._is_times_itself(op, u, users)
            for u in users
        )

    def _is_times_itself(self, op: Op, product: Op, users: list[Op]) -> bool:
        """`weight * error * error`."""
        others = [i for i in self.history.graph.inputs(product) if i.nid != op.nid]
        return product.name == "mul" and any(other in users for other in others)


rule = ZeroGradient
