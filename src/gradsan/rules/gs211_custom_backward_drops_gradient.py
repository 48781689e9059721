"""GS211: a custom Function whose backward loses gradient that was given to it."""

from __future__ import annotations

from gradsan.judge.flow import live_results
from gradsan.judge.history import History
from gradsan.judge.lines.source import BackwardSource, backward_at, defined_at
from gradsan.judge.report.wording import networks
from gradsan.record.events import Backward, Failed, FunctionPass, Op, ParamId, Site
from gradsan.record.torch_errors import TorchError, row_called
from gradsan.rules.base import Rule, Verdict, Verdicts

STEPS = 2


class CustomBackwardDropsGradient(Rule):
    code = "GS211"
    name = "custom-backward-drops-gradient"
    severity = "error"
    needs_deep = True
    what = """
        The `backward` of a custom `torch.autograd.Function` never reads the gradient of one of its outputs, or returns
        None for an input that a trained parameter stands behind. Or it returns what PyTorch refuses: too few gradients,
        or one of another shape than its input. Or the function has no `backward` at all, perhaps by a slip in its name.
    """
    why = """
        PyTorch takes what `backward` returns on trust: None means "no gradient", and nobody checks whether that
        is true. The parameters behind that input never learn, or learn from a part of the loss only.
    """
    symptom = """
        One part of the network stays as it was initialised (a spread, a gate, a weight), while the loss falls
        as far as the rest can take it.
    """
    fix = (
        "return a gradient for every input that needs one, made of the gradients of all outputs; "
        "`torch.autograd.gradcheck` tells whether it is right"
    )
    deliberate = """
        None is right for inputs that nothing trained stands behind, and an input whose parameters get their
        gradient another way is not reported. An output that is not to be differentiated is declared with
        `ctx.mark_non_differentiable`.
    """
    bad = (
        """
        import torch
        class Scale(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, weight):
                ctx.save_for_backward(x, weight)
                return x * weight
            @staticmethod
            def backward(ctx, grad):
                x, weight = ctx.saved_tensors
                return grad * weight, None  # BUG
        net, weight = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.ones(2))
        opt = torch.optim.SGD([*net.parameters(), weight], lr=0.01)
        for _ in range(8):
            loss = (Scale.apply(net(torch.randn(8, 3)), weight) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        class Heads(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, a, b):
                ctx.save_for_backward(x, a, b)
                return x @ a, x @ b
            @staticmethod
            def backward(ctx, grad_a, grad_b):
                x, a, b = ctx.saved_tensors
                return grad_a @ a.T, x.T @ grad_a, x.T @ grad_a  # BUG
        net = torch.nn.Linear(3, 4)
        a, b = (torch.nn.Parameter(torch.randn(4, 2)) for _ in range(2))
        opt = torch.optim.SGD([*net.parameters(), a, b], lr=0.01)
        for _ in range(8):
            mean, spread = Heads.apply(net(torch.randn(8, 3)), a, b)
            loss = (mean - 1.0).pow(2).mean() + (spread - 0.5).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # A penalty on a gradient: its derivative ends in the activation.
        import torch
        class Leaky(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x > 0)
                return torch.where(x > 0, x, 0.1 * x)
            @staticmethod
            def backward(ctx, grad):
                (positive,) = ctx.saved_tensors
                return torch.where(positive, grad.detach(), 0.1 * grad.detach())  # BUG
        first, second = torch.nn.Linear(3, 8), torch.nn.Linear(8, 1)
        opt = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
        for _ in range(6):
            x = torch.randn(8, 3, requires_grad=True)
            score = second(Leaky.apply(first(x)))
            (slope,) = torch.autograd.grad(score.sum(), x, create_graph=True)
            loss = score.mean() + (slope.norm(dim=1) - 1).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        class Scale(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, weight):
                ctx.save_for_backward(x, weight)
                return x * weight
            @staticmethod
            def backward(ctx, grad):
                x, weight = ctx.saved_tensors
                return grad * weight, (grad * x).sum(0)
        net, weight = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.ones(2))
        opt = torch.optim.SGD([*net.parameters(), weight], lr=0.01)
        for _ in range(8):
            loss = (Scale.apply(net(torch.randn(8, 3)), weight) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # The scale of a quantiser is a constant by right: its input's gradient goes straight through.
        import torch
        class Quantise(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, scale):
                return (x / scale).round() * scale
            @staticmethod
            def backward(ctx, grad):
                return grad, None
        net = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(8):
            x = net(torch.randn(8, 3))
            loss = (Quantise.apply(x, x.abs().max() / 127) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # A detach of one's own: what lies behind learns from the other term.
        import torch
        class Stop(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.clone()
            @staticmethod
            def backward(ctx, grad):
                return None
        net, head = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)
        opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.01)
        for _ in range(8):
            x = net(torch.randn(8, 3))
            loss = (head(Stop.apply(x)) - 1.0).pow(2).mean() + (x - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._met: dict[Site, int] = {}

    def on_backward(self, event: Backward) -> Verdicts:
        for seen in event.facts.functions if not event.error else ():
            op = self.history.graph.get(seen.value)
            if op is None or not op.facts.backward:
                continue
            where = self.history.sites[op.facts.backward]
            source = backward_at(where.file, where.line)
            whole = event.call == "backward"  # another call asks for a part of the gradients only
            lost = self._starved(event, seen, op) if whole else set()
            ignored = self._ignored(seen, source) if whole else []
            narrowed = self._narrowed(seen, source)
            if not lost and not ignored and not seen.severs and narrowed is None:
                continue
            met = self._met[op.facts.backward] = self._met.get(op.facts.backward, 0) + 1
            if met < STEPS:
                continue
            if narrowed is not None and not lost and not ignored:
                yield self._one_for_all(event, op, *narrowed)
            else:
                yield self._verdict(event, op, source, lost, ignored, seen.severs)

    def on_failed(self, event: Failed) -> Verdicts:
        """PyTorch does check that there is a backward, with one gradient per argument, and its shape."""
        row = row_called(event.kind)
        if row is None or self.code not in row.rules or not event.origin:
            return
        if event.kind == "function-without-backward":
            yield self._without_backward(event, row)
            return
        yield Verdict(
            event.origin,
            f"{row.why}: {event.message.splitlines()[0]}",
            [("returned", event.origin), ("backward", event.site)],
            fix=row.fix,
        )

    def _without_backward(self, event: Failed, row: TorchError) -> Verdict:
        begins = self.history.sites[event.origin]
        at = defined_at(begins.file, begins.line)
        culprit = self.history.site_at(begins.file, at, begins.function)
        other = begins.function != "forward"
        return Verdict(
            culprit,
            row.why + (f": it has `{begins.function}`, which PyTorch does not know" if other else ""),
            [("its method" if other else "its forward", culprit), ("backward", event.site)],
            fix=f"call it `backward` instead of `{begins.function}`" if other else row.fix,
        )

    def _starved(self, event: Backward, seen: FunctionPass, op: Op) -> set[ParamId]:
        """Parameters that an optimizer owns, that lie behind an input without gradient and got none otherwise.
        Where not all outputs were asked for, an input may have had a part in the others only."""
        history = self.history
        if seen.gives and len(seen.arrived) < len(live_results(history.graph, op)):
            return set()
        without = set(seen.behind) - set(event.fed) - history.ever_fed
        return {pid for pid in without if history.owner_of(pid)}

    def _ignored(self, seen: FunctionPass, source: BackwardSource | None) -> list[str]:
        """The gradients that arrived and are never read. Where only the number one arrives, as at the loss itself,
        a backward may know without reading it; one that gives nothing back at all is a `detach` of somebody's own."""
        if source is None or seen.plain or not seen.gives or len(source.names) != seen.outputs:
            return []
        return [source.names[i] for i in source.unread if i in seen.arrived]

    def _narrowed(self, seen: FunctionPass, source: BackwardSource | None) -> tuple[str, int] | None:
        """The gradient that differs from row to row and of which one element is read, and the line that reads it."""
        if source is None or not seen.gives or len(source.names) != seen.outputs:
            return None
        return next(((source.names[i], at) for i, at in source.narrowed if i in seen.varied), None)

    def _one_for_all(self, event: Backward, op: Op, name: str, at: int) -> Verdict:
        begins = self.history.sites[op.facts.backward]
        culprit = self.history.site_at(begins.file, at, begins.function)
        return Verdict(
            culprit,
            f"`{op.name}.backward` reads one number of `{name}` for all rows, and `{name}` differs from row to row: "
            "what each of them is weighed by is lost",
            [("backward of the function", culprit), ("use", op.site), ("backward", event.site)],
            self.history.graph.live_params([op.nid]),
            fix=f"multiply each row by its own element of `{name}`: `{name}.unsqueeze(-1) * …`",
        )

    def _verdict(
        self, event: Backward, op: Op, source: BackwardSource | None, lost: set[ParamId], ignored: list[str],
        severs: bool,
    ) -> Verdict:  # fmt: skip
        begins = self.history.sites[op.facts.backward]
        culprit = op.facts.backward
        if source is not None:
            culprit = self.history.site_at(begins.file, source.returns, begins.function)
        what = []
        if ignored:
            what.append(
                "never reads " + " and ".join(f"`{name}`" for name in ignored) + ", which is not zero"
            )
        if lost:
            what.append(f"gives no gradient back for {networks(self.history, lost)}")
        if severs:
            what.append("gives constants back, where the gradient is to be differentiated once more")
        return Verdict(
            culprit,
            f"`{op.name}.backward` " + " and ".join(what),
            [("backward of the function", culprit), ("use", op.site), ("backward", event.site)],
            lost or self.history.graph.live_params([op.nid]),
            explains=lost,
        )


rule = CustomBackwardDropsGradient
