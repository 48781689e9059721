"""GS101: a tensor that backward needs was written in place."""

from __future__ import annotations

from gradsan.judge.history import History
from gradsan.judge.lines.callers import caller_of, way_of
from gradsan.judge.lines.read_writes import written_by_source
from gradsan.judge.order.stepped_weights import stepped_weight
from gradsan.judge.report.wording import kept_by, line, write_at
from gradsan.record.events import NOWHERE, Backward, ChangedTensor, Failed, Site, ValueId
from gradsan.record.torch_errors import SAVED_TENSOR_CHANGED
from gradsan.rules.base import Rule, Verdict, Verdicts

# PyTorch refuses these writes at once: what the view is, and why a write into it cannot be undone in backward.
REFUSED = {
    "one-of-several-views": "one of several views of one tensor ({}): autograd would lose track of the others",
    "view-of-function": "what a custom function returned as a view of its input ({}): its backward would be passed by",
    "view-without-gradient": "a view that was made while gradients were off ({}), and gradients are on now",
}


class SavedTensorMutated(Rule):
    code = "GS101"
    name = "saved-tensor-mutated"
    severity = "error"
    what = """
        An operation kept a tensor for its backward, and before backward came, another line wrote into that
        tensor in place.
    """
    why = """
        The gradient would be computed from numbers that were never part of the forward pass. PyTorch notices
        at `backward()` and raises, but names neither the tensor nor the line that wrote it. In RL it is usually
        a mask (`q[~available] = -inf`), `clamp_`, `+=` on a state, or a noise buffer that is drawn anew.
    """
    symptom = """
        The run ends with `one of the variables needed for gradient computation has been modified by an
        inplace operation`: at the first update or, where the write depends on the data, somewhere in
        the middle of training.
    """
    fix = (
        "write into a copy (`q = q.clone()` first), or use the form without underscore (`masked_fill`, `clamp`, "
        "`x = x + y`, `torch.where`)"
    )
    deliberate = """
        Never: PyTorch refuses the backward. Writing in place is fine where no pending backward needs
        the value.
    """
    bad = (
        """
        import torch
        net = torch.nn.Linear(3, 4)
        q = net(torch.randn(8, 3))
        soft = q.softmax(-1) * q
        q[:, 0] = -1e9  # BUG
        loss = soft.sum() + q.max(1).values.mean()
        loss.backward()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 4)
        h = torch.sigmoid(net(torch.randn(8, 3)))
        h += 1.0  # BUG
        h.mean().backward()
        """,
        """
        import torch

        class Noisy(torch.nn.Linear):
            def __init__(self):
                super().__init__(3, 2)
                self.sigma = torch.nn.Parameter(torch.full((2, 3), 0.1))
                self.register_buffer("noise", torch.zeros(2, 3))

            def forward(self, x):
                self.noise.normal_()  # BUG
                return torch.nn.functional.linear(x, self.weight + self.sigma * self.noise, self.bias)

        net = Noisy()
        first = net(torch.randn(8, 3))
        second = net(torch.randn(8, 3))
        (first - second.detach()).pow(2).mean().backward()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 4)
        out = torch.zeros(8, 4)
        x = net(torch.randn(8, 3)).exp()
        y = x * 2
        view = x[:4]
        with torch.no_grad():
            view.clamp_(max=1.0)  # BUG
        y.mean().backward()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 4)
        mean, log_std = net(torch.randn(8, 3)).chunk(2, dim=-1)
        log_std.clamp_(-20, 2)  # BUG
        (mean + log_std.exp()).mean().backward()
        """,
        """
        # A second phase, of which nobody traced the forward when it raised.
        import torch
        net = torch.nn.Linear(3, 4)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(16):
            loss = net(torch.randn(8, 3)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        for _ in range(16):
            log_p = net(torch.randn(8, 3)).log_softmax(-1)
            loss = (log_p.exp_() * log_p).sum(-1).mean()  # BUG
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        net = torch.nn.Linear(3, 4)
        q = net(torch.randn(8, 3))
        soft = q.softmax(-1) * q
        masked = q.clone()
        masked[:, 0] = -1e9
        (soft.sum() + masked.max(1).values.mean()).backward()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 4)
        h = net(torch.randn(8, 3))
        h += 1.0
        h.relu_()
        h.mean().backward()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 4)
        mean, log_std = net(torch.randn(8, 3)).chunk(2, dim=-1)
        log_std = log_std.clamp(-20, 2)
        (mean + log_std.exp()).mean().backward()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._wrong: set[ValueId] = set()  # writes that a backward has failed by

    def on_backward(self, event: Backward) -> Verdicts:
        if SAVED_TENSOR_CHANGED not in event.error:
            return
        history, facts, changed = self.history, event.facts, event.facts.changed
        if (changed is not None and changed.by_step) or stepped_weight(history, event):
            return
        if changed is None or not changed.site:
            if facts.forward_unseen and (written := written_by_source(history, event)):
                message = (
                    f"what this changes in place is needed by the backward on {line(history, event.site)}"
                )
                yield Verdict(
                    written, message, [("mutation", written), ("backward", event.site)], event.reached
                )
                return
            hint = "; run with `--mode deep` to see which line wrote it" if facts.forward_unseen else ""
            kept_at = facts.kept_at
            whose = f"{kept_by(history, kept_at)} has kept for" if kept_at else "a tensor needed by"
            message = f"{whose} this backward was changed in place{hint}"
            story = [("saved", kept_at)] if kept_at else []
            yield Verdict(event.site, message, [*story, ("backward", event.site)], event.reached)
            return
        kept = history.graph.get(changed.value)
        kept_at = kept.site if kept is not None else NOWHERE
        culprit = self._written_for(event, changed)
        yield Verdict(
            culprit,
            f"{write_at(history, changed.site, changed.operation)} changes in place "
            f"{kept_by(history, kept_at)} has kept for "
            f"backward on {line(history, event.site)}",
            [("saved", kept_at), ("caller", culprit), ("mutation", changed.site), ("backward", event.site)],
            event.reached,
        )

    def _written_for(self, event: Backward, changed: ChangedTensor) -> Site:
        """A helper that writes in place what it is given may do so rightly for others: then its caller is to give it a
        copy. A buffer that a module writes is its own affair."""
        graph = self.history.graph
        within = graph.ancestors(root.nid for root in event.roots)
        writes = [op for op in graph.ops.values() if (op.site, op.name) == (changed.site, changed.operation)]
        wrong = [op for op in writes if op.live and op.nid in within]
        if not wrong:
            return changed.site
        newest = max(wrong, key=lambda op: op.nid)
        self._wrong.update(op.nid for op in wrong)
        caller = caller_of(self.history, newest, lambda op: op.nid not in self._wrong)
        kept = graph.get(changed.value)
        # What was made inside of that call cannot be copied before it: the others do right only without gradients.
        made_inside = kept is not None and caller in way_of(self.history, kept)
        return changed.site if made_inside else caller

    def on_failed(self, event: Failed) -> Verdicts:
        if event.kind not in REFUSED:
            return
        made = self.history.graph.get(event.value)
        made_at = made.site if made is not None else NOWHERE
        off = made.facts.grad_off if made is not None else NOWHERE
        where = line(self.history, made_at) if made_at else "run with `--mode deep` to see where it was made"
        yield Verdict(
            event.site,
            f"this writes in place into {REFUSED[event.kind].format(where)}",
            [("gradients off", off), ("view", made_at), ("mutation", event.site)],
        )


rule = SavedTensorMutated
