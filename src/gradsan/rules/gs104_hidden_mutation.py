"""GS104: memory behind a saved tensor changed, and the version counter does not know."""

from __future__ import annotations

from gradsan.judge.copies.drawn_over import DrawnOver, drawn_over
from gradsan.judge.copies.itself import (
    COMPARING,
    Itself,
    compared_with_itself,
    second_name,
    written_in_place,
)
from gradsan.judge.copies.overwritten_names import Overwritten, overwritten_names
from gradsan.judge.effect import never_computed
from gradsan.judge.lines.source import backward_at
from gradsan.judge.report.wording import kept_by, line, value_at
from gradsan.record.events import NOWHERE, Backward, Op, Ops, Site, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts

SUMS = {"add", "sub"}


class HiddenMutation(Rule):
    code = "GS104"
    name = "hidden-mutation"
    severity = "error"
    needs_deep = True
    what = """
        What an operation kept for backward (an input, a mask, the rows that were looked up) is not what it was:
        something wrote into the memory behind autograd's back, through `.data` or through a NumPy array that shares it.
        Or what was kept to be compared with is a second name for what it is compared with, and a write in place has
        changed both.
    """
    why = """
        PyTorch is silent and the gradient is wrong. The usual source is an environment that reuses its
        observation buffer: `torch.from_numpy(obs)` shares that memory, and the next `env.step` overwrites the
        inputs of a forward pass whose backward is still to come.
    """
    symptom = """
        Nothing raises. The return stays far below that of the same code with copied observations, and
        changes with things that should not matter: the number of environments, or how soon backward
        follows the forward pass.
    """
    fix = (
        "copy at the border (`torch.as_tensor(obs).clone()`, `torch.tensor(obs)`), and do not write through "
        "`.data`"
    )
    deliberate = """
        Writing through `.data` when no backward is pending (a target sync, a weight clamp after the
        step) is not reported: nothing that backward needs is changed.
    """
    bad = (
        """
        import numpy as np
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        buffer = np.zeros((8, 3), dtype=np.float32)
        for step in range(4):
            buffer[:] = np.random.randn(8, 3)
            obs = torch.from_numpy(buffer)  # BUG
            loss = (net(obs) - 1.0).pow(2).mean()
            buffer[:] = np.random.randn(8, 3)
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
        opt = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
        for _ in range(4):
            loss = (second(first(torch.randn(8, 3))) - 1.0).pow(2).mean()
            second.weight.data.clamp_(-0.01, 0.01)  # BUG
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            value = net(torch.randn(8, 3)).squeeze(-1).exp()
            error = value - 1.0
            array = value.detach().numpy()  # BUG
            array[:4] = 0.0
            opt.zero_grad()
            error.pow(2).mean().backward()
            opt.step()
        """,
    )
    good = (
        """
        import numpy as np
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        buffer = np.zeros((8, 3), dtype=np.float32)
        for step in range(4):
            buffer[:] = np.random.randn(8, 3)
            obs = torch.from_numpy(buffer).clone()
            loss = (net(obs) - 1.0).pow(2).mean()
            buffer[:] = np.random.randn(8, 3)
            opt.zero_grad()
            loss.backward()
            opt.step()
            net.weight.data.clamp_(-0.5, 0.5)
        """,
        """
        # A line search puts other weights in place between one forward pass and the next.
        import torch
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        x = torch.randn(8, 3)
        for _ in range(4):
            loss = (net(x) - 1.0).pow(2).mean()
            before = [p.detach().clone() for p in net.parameters()]
            grads = torch.autograd.grad(loss, list(net.parameters()))
            for size in (1.0, 0.5, 0.25):
                for p, old, g in zip(net.parameters(), before, grads):
                    p.data = old - size * g
                if (net(x) - 1.0).pow(2).mean() < loss:
                    break
        """,
        """
        # The form of what is kept is all that is asked for; a gradient that nobody else gets may be written to.
        import torch
        class Halve(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.x = x
                return x * 1.0
            @staticmethod
            def backward(ctx, grad):
                return grad.mul_(0.5).reshape(ctx.x.shape)
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            x = net(torch.randn(8, 3))
            halved = Halve.apply(x)
            x += 1.0
            opt.zero_grad()
            (halved.pow(2) + x).mean().backward()
            opt.step()
        """,
    )

    def on_ops(self, event: Ops) -> Verdicts:
        for op in event.ops:
            found = compared_with_itself(self.history, op) if op.name in COMPARING else None
            if found is None or found.value.kind == "parameter":
                continue  # GS306 tells that
            written, named = written_in_place(self.history, found), second_name(self.history, found)
            if written and named:
                yield self._compared(found, written, named)

    def _compared(self, found: Itself, written: Site, named: Site) -> Verdict:
        one, other = found.names
        always = "zero" if found.op.name == "sub" else "one"
        return Verdict(
            named,
            f"`{one}` and `{other}` are two names for one tensor: {line(self.history, written)} writes into both, and "
            f"what {line(self.history, found.op.site)} makes of them is always {always}",
            [("alias", named), ("mutation", written), ("use", found.op.site)],
            fix="keep a copy: `old = x.clone()`",
            key="itself",
        )

    def on_backward(self, event: Backward) -> Verdicts:
        history = self.history
        for hidden in event.facts.hidden:
            kept = history.graph.get(hidden.value)
            kept_at = kept.site if kept is not None else NOWHERE
            culprit = hidden.write or hidden.alias or kept_at
            how = (
                f"a custom function keeps it as `ctx.{hidden.attribute}`, where PyTorch does not check it; with "
                "`ctx.save_for_backward` it would have raised"
                if hidden.attribute
                else "this line writes through `.data`"
                if hidden.write
                else "an array or a buffer shares its memory from here on, and was written"
                if hidden.alias
                else "its memory was written behind autograd's back"
            )
            yield Verdict(
                culprit,
                f"{kept_by(history, kept_at)} kept for backward was "
                f"overwritten before backward used it: {how}",
                [
                    ("saved", kept_at),
                    ("mutation" if hidden.write else "alias", culprit),
                    ("backward", event.site),
                ],
                event.reached,
                measure=never_computed,
            )
        yield from self._incoming(event)
        within = history.graph.ancestors(root.nid for root in event.roots)
        yield from (self._drawn_over(event, found) for found in drawn_over(history.graph, within))
        yield from (self._overwritten(event, found) for found in overwritten_names(history, within))

    def _overwritten(self, event: Backward, found: Overwritten) -> Verdict:
        history, site, read = self.history, found.op.site, found.read.site
        return Verdict(
            site,
            f"`{found.op.name}_` changes `{found.name}` in place, and {line(history, read)} reads that as it was: "
            "both names have the new value",
            [("mutation", site), ("use", read), ("backward", event.site)],
            fix=f"use the form without underscore: `{found.op.name}`",
            key="overwritten",
        )

    def _drawn_over(self, event: Backward, found: DrawnOver) -> Verdict:
        history, site = self.history, found.draw.site
        made = value_at(history, found.value.site, "a value")
        read = found.read.site or event.site
        return Verdict(
            site,
            f"`{found.draw.name}_` draws into the memory of {made}, and {line(history, read)} takes that for what "
            "it was",
            [("mutation", site), ("made", found.value.site), ("use", read), ("backward", event.site)],
            fix="draw into a tensor of its own: `torch.randn_like(x)`, or `x.clone().normal_()`",
            key="drawn over",
        )

    def _incoming(self, event: Backward) -> Verdicts:
        """A custom backward that writes into the gradient it is given, where a sum gives the same to others."""
        history = self.history
        within = history.graph.live_ancestors(root.nid for root in event.roots)
        for seen in event.facts.functions if not event.error else ():
            op = history.graph.get(seen.value) if seen.overwrites else None
            beside = self._beside(op, within) if op is not None else None
            if op is None or beside is None or not op.facts.backward:
                continue
            where = history.sites[op.facts.backward]
            source = backward_at(where.file, where.line)
            at = source.writes if source is not None else 0
            culprit = history.site_at(where.file, at, where.function) if at else op.facts.backward
            yield Verdict(
                culprit,
                f"`{op.name}.backward` writes in place into the gradient it is given: the other side of the sum on "
                f"{line(history, beside.site)} gets the same tensor",
                [("mutation", culprit), ("use", op.site), ("shared", beside.site), ("backward", event.site)],
                event.reached,
                fix="compute a new tensor from the incoming gradient (`grad * scale`, or `grad.clone()` first)",
            )

    def _beside(self, op: Op, within: dict[ValueId, Op]) -> Op | None:
        """The sum that hands its gradient on to this value and, as it is, to another."""
        graph = self.history.graph
        users = [within[nid] for nid in graph.consumers.get(op.nid, ()) if nid in within]
        sums = [u for u in users if u.name in SUMS and u.live and u.shape == op.shape]
        return next(
            (
                u
                for u in sums
                if any(i.live and i.nid != op.nid and i.shape == u.shape for i in graph.inputs(u))
            ),
            None,
        )


rule = HiddenMutation
