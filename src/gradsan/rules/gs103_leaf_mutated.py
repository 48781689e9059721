"""GS103: an in-place write on a leaf that requires grad."""

from __future__ import annotations

from gradsan.judge.report.wording import name_of, quoted
from gradsan.record.events import NOWHERE, Failed
from gradsan.rules.base import Rule, Verdict, Verdicts


class LeafMutated(Rule):
    code = "GS103"
    name = "leaf-mutated"
    severity = "error"
    what = "A parameter, or a tensor made with `requires_grad=True`, is written in place while gradients are recorded."
    why = """
        Gradients arrive in such a tensor. Autograd cannot record a write into it, and refuses. Target syncs,
        weight clamps and initialisation by hand are the usual places.
    """
    symptom = """
        The run ends with `a leaf Variable that requires grad is being used in an in-place operation`,
        usually at the first target sync, after the first updates went well.
    """
    fix = "wrap the write in `with torch.no_grad():`"
    deliberate = """
        Writing parameters by hand is right for syncs, clamps and initialisation; recording the write is
        not. `torch.no_grad()` says so.
    """
    bad = (
        """
        import torch
        net, target = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
        for p, t in zip(net.parameters(), target.parameters()):
            t.mul_(0.99).add_(0.01 * p)  # BUG
        """,
        """
        import torch
        w = torch.zeros(3, requires_grad=True)
        w[0] = 1.0  # BUG
        """,
    )
    good = (
        """
        import torch
        net, target = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
        with torch.no_grad():
            for p, t in zip(net.parameters(), target.parameters()):
                t.mul_(0.99).add_(0.01 * p)
        """,
        """
        # Initialisation writes through a view of the leaf, under `no_grad`.
        import torch
        net = torch.nn.Linear(3, 2)
        torch.nn.init.orthogonal_(net.weight, 2**0.5)
        torch.nn.init.zeros_(net.bias)
        net(torch.randn(4, 3)).sum().backward()
        """,
    )

    def on_failed(self, event: Failed) -> Verdicts:
        if event.kind != "leaf-mutated":
            return
        pid = event.pid
        created = self.history.params[pid].created if pid else NOWHERE
        what = quoted(name_of(self.history, pid)) if pid else "a tensor made with `requires_grad=True`"
        yield Verdict(
            event.site,
            f"this writes into {what} in place while gradients are recorded, which autograd refuses",
            [("mutation", event.site), ("creation", created)],
            [pid] if pid else (),
        )


rule = LeafMutated
